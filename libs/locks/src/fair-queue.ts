/**
 * Work that waits, by owner: an organization, a mount. Owners take turns and the work of each stays in order, so
 * that work is preceded by at most one piece of each other owner for each of its own, however much others queue.
 */
export class FairQueue<Work> {
  /** In the order of their turns. */
  readonly #byOwner = new Map<string, Work[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(owner: string, work: Work): void {
    const own = this.#byOwner.get(owner);
    if (own === undefined) this.#byOwner.set(owner, [work]);
    else own.push(work);
    this.#size += 1;
  }

  /**
   * Removes and returns the first work of the owner whose turn it is; undefined if there is none.
   * @param mayTake called with each owner in turn, and with the first work of that owner
   */
  take(mayTake: (work: Work, owner: string) => boolean = () => true): Work | undefined {
    for (const [owner, own] of this.#byOwner) {
      const [first] = own;
      if (first === undefined || !mayTake(first, owner)) continue;
      own.shift();
      this.#size -= 1;
      this.#byOwner.delete(owner);
      if (own.length > 0) this.#byOwner.set(owner, own);
      return first;
    }
    return undefined;
  }

  /** The waiting work of one owner. */
  countOf(owner: string): number {
    return this.#byOwner.get(owner)?.length ?? 0;
  }

  /** Removes work that nobody waits for any more. */
  remove(owner: string, work: Work): void {
    const own = this.#byOwner.get(owner);
    const at = own?.indexOf(work) ?? -1;
    if (own === undefined || at < 0) return;
    own.splice(at, 1);
    this.#size -= 1;
    if (own.length === 0) this.#byOwner.delete(owner);
  }

  /** Removes and returns all work, in the order of the turns. */
  takeAll(): readonly Work[] {
    const all: Work[] = [];
    for (let next = this.take(); next !== undefined; next = this.take()) all.push(next);
    return all;
  }
}
