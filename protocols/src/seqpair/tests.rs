//! One test for each sentence of Centrifuge §2.3.2 about sequence numbers.
