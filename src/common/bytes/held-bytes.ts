/** A share of a bounded memory, which bytes from outside take until they are stored, used or refused. */
export interface HeldBytes {
  /**
   * Counts bytes that have arrived; a negative number takes back bytes that need no room. When it throws, they count as
   * arrived, and `add(0)` asks again whether there is room.
   * @returns whether the bytes take up room by now
   * @throws RateLimited when the caller's share is used up, Unavailable when the room is full, BadRequest after `release`
   */
  add(bytes: number): boolean;
  /** Frees the room; may be called again. */
  release(): void;
}
