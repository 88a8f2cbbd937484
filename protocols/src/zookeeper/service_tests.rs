//! What scenarios and bounds do not show by themselves.
