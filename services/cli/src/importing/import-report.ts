/** The results of an import: items that were created, that existed, or that could not be taken over. */

export interface Remark {
  /** "ORGANIZATION" or "ORGANIZATION/WORKSPACE". */
  readonly subject: string;
  readonly text: string;
}

interface Count {
  takenOver: number;
  alreadyThere: number;
}

export class ImportReport {
  readonly #counts = new Map<string, Count>();
  readonly #omissions = new Map<string, Remark>();
  readonly #failures: Remark[] = [];

  /** @param kind in the plural, "workspaces" */
  countTakenOver(kind: string): void {
    this.#countOf(kind).takenOver += 1;
  }

  countAlreadyThere(kind: string): void {
    this.#countOf(kind).alreadyThere += 1;
  }

  /** The same remark about the same subject appears once. */
  leaveOut(subject: string, text: string): void {
    this.#omissions.set(`${subject}\n${text}`, { subject, text });
  }

  fail(subject: string, text: string): void {
    this.#failures.push({ subject, text });
  }

  get counts(): Readonly<Record<string, Readonly<Count>>> {
    return Object.fromEntries(this.#counts);
  }

  get omissions(): readonly Remark[] {
    return [...this.#omissions.values()].sort((a, b) => a.subject.localeCompare(b.subject));
  }

  get failures(): readonly Remark[] {
    return this.#failures;
  }

  #countOf(kind: string): Count {
    const found = this.#counts.get(kind) ?? { takenOver: 0, alreadyThere: 0 };
    this.#counts.set(kind, found);
    return found;
  }
}
