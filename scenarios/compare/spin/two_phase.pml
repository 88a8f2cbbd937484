/* Two-phase commit (Gray and Lamport, "Consensus on transaction commit", TODS 2006, its specification TwoPhase) with
   eight resource managers. One process, each action one d_step, so that states and transitions are those of the
   specification; what never differs from something else is left out. */

#define WORKING   0
#define PREPARED  1
#define COMMITTED 2
#define ABORTED   3

#define OPEN   0
#define COMMIT 1
#define ABORT  2

#define ALL(P) (P(0) && P(1) && P(2) && P(3) && P(4) && P(5) && P(6) && P(7))
#define ANY(P) (P(0) || P(1) || P(2) || P(3) || P(4) || P(5) || P(6) || P(7))

byte stage[8];      /* of each resource manager */
bit sent[8];        /* its message that it is prepared was sent */
bit heard[8];       /* the transaction manager received it */
byte decision;

#define HAS_COMMITTED(i) (stage[i] == COMMITTED)
#define HAS_ABORTED(i)   (stage[i] == ABORTED)
#define IS_HEARD(i)      (heard[i])
#define CONSISTENT       (!(ANY(HAS_COMMITTED) && ANY(HAS_ABORTED)))

#define MANAGER(i) \
  :: d_step { decision == OPEN && sent[i] -> heard[i] = 1 } \
  :: d_step { stage[i] == WORKING -> stage[i] = PREPARED; sent[i] = 1 } \
  :: d_step { stage[i] == WORKING -> stage[i] = ABORTED; assert(CONSISTENT) } \
  :: d_step { decision == COMMIT -> stage[i] = COMMITTED; assert(CONSISTENT) } \
  :: d_step { decision == ABORT -> stage[i] = ABORTED; assert(CONSISTENT) }

active proctype system() {
  do
  :: d_step { decision == OPEN && ALL(IS_HEARD) -> decision = COMMIT }
  :: d_step { decision == OPEN -> decision = ABORT }
  MANAGER(0)
  MANAGER(1)
  MANAGER(2)
  MANAGER(3)
  MANAGER(4)
  MANAGER(5)
  MANAGER(6)
  MANAGER(7)
  od
}
