/**
 * Faults of a store that still answers, for its operators: each is reported once when it begins and once when it
 * is over. While there is one, the store tries at intervals whether it can write again, because there may be no
 * requests that would show it.
 */
import { hasCode } from '@keelson/errors';

export const FAULT_KINDS = ['full', 'checkpoint', 'log', 'damaged'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface StoreFault {
  readonly kind: FaultKind;
  /** A sentence for operators. */
  readonly text: string;
}

/** For operators, in readiness, health and log. */
const SENTENCES: Readonly<Record<FaultKind, string>> = {
  full: 'the disk of the store is full: writes are refused (docs/runbooks/disk-full.md)',
  checkpoint:
    "the store's write-ahead log cannot be copied into its file, and grows with each write (docs/runbooks/disk-full.md)",
  log: "the store's write-ahead log is larger than 64 MiB, as a copy or read does not end (docs/runbooks/disk-full.md)",
  damaged:
    'the file of the store is damaged: what cannot be read is refused (docs/runbooks/check-storage.md)',
};

/** @param cause of the beginning; absent when the fault is over */
export type FaultListener = (
  fault: StoreFault & { readonly isOver: boolean },
  cause?: unknown,
) => void;

const RETRY_EVERY_MS = 5000;

/** The kinds of faults that are present, as bits; several threads may share them. */
export interface FaultCell {
  bits(): number;
  /** @returns whether it was absent */
  add(bit: number): boolean;
  /** @returns whether it was present */
  remove(bit: number): boolean;
}

const createFaultCell = (): FaultCell => {
  let present = 0;
  const change = (bits: number): boolean => {
    const isChanged = bits !== present;
    present = bits;
    return isChanged;
  };
  return {
    bits: () => present,
    add: (bit) => change(present | bit),
    remove: (bit) => change(present & ~bit),
  };
};

const bitOf = (kind: FaultKind): number => 1 << FAULT_KINDS.indexOf(kind);

export class StoreFaults {
  readonly #cell: FaultCell;
  /** Causes of the faults that began here. */
  readonly #causes = new Map<FaultKind, unknown>();
  #listener: FaultListener | undefined;
  #retry: () => Promise<void> = () => Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param cell shared with other threads that have the same store open */
  constructor(cell: FaultCell = createFaultCell()) {
    this.#cell = cell;
  }

  get present(): readonly StoreFault[] {
    return FAULT_KINDS.filter((kind) => this.has(kind)).map((kind) => ({
      kind,
      text: SENTENCES[kind],
    }));
  }

  has(kind: FaultKind): boolean {
    return (this.#cell.bits() & bitOf(kind)) !== 0;
  }

  /** Called for the faults that began here at once, and for each change that this thread notices first. */
  set onChange(listener: FaultListener) {
    this.#listener = listener;
    for (const [kind, cause] of this.#causes) this.#tell(kind, false, cause);
  }

  /** @param retry writes something without effect, and calls `end` for what is over; run at intervals */
  set retry(retry: () => Promise<void>) {
    this.#retry = retry;
  }

  begin(kind: FaultKind, cause: unknown): void {
    if (this.#isClosed || !this.#cell.add(bitOf(kind))) return;
    this.#causes.set(kind, cause);
    this.#tell(kind, false, cause);
    this.#timer ??= setInterval(() => this.#tryAgain(), RETRY_EVERY_MS).unref();
  }

  end(kind: FaultKind): void {
    if (!this.#cell.remove(bitOf(kind))) return;
    this.#causes.delete(kind);
    this.#tell(kind, true);
    if (this.#cell.bits() === 0) this.#stopRetrying();
  }

  /** Begins the fault that an error of a database shows. @returns the error */
  note(error: unknown): unknown {
    if (hasCode(error, 'storage.full')) this.begin('full', error);
    if (hasCode(error, 'storage.corrupt')) this.begin('damaged', error);
    return error;
  }

  close(): void {
    this.#isClosed = true;
    this.#stopRetrying();
  }

  #tryAgain(): void {
    // Another thread may have ended it.
    if (this.#cell.bits() === 0) this.#stopRetrying();
    else void this.#retry().catch(() => undefined);
  }

  #stopRetrying(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tell(kind: FaultKind, isOver: boolean, cause?: unknown): void {
    this.#listener?.({ kind, text: SENTENCES[kind], isOver }, cause);
  }
}
