/** Sends the log of a phase to the control plane: in order, in pieces, while it is written. */
import { setTimeout as pause } from 'node:timers/promises';
import { type ControlPlane, type Phase, Refused } from './control-plane.ts';
import { Mask } from './credentials/mask.ts';

/** Maximum length of a piece, in UTF-16 units. */
const PIECE_LENGTH = 32_000;
/** Time for which text is collected before it is sent. */
const GATHER_MS = 500;

const endsWithinPair = (text: string): boolean => /[\uD800-\uDBFF]$/.test(text);

/** The first piece of a text, without splitting a character. */
const firstPiece = (text: string): string => {
  const piece = text.slice(0, PIECE_LENGTH);
  return piece.length < text.length && endsWithinPair(piece) ? piece.slice(0, -1) : piece;
};

export class LogStream {
  readonly #controlPlane: ControlPlane;
  readonly #phase: Phase;
  readonly #mask = new Mask();
  #waiting = '';
  #sending: Promise<void> | undefined;
  /** The control plane accepts no more of the log: it is too long, or the phase has ended. */
  #isClosed = false;

  constructor(controlPlane: ControlPlane, phase: Phase) {
    this.#controlPlane = controlPlane;
    this.#phase = phase;
  }

  /** These texts do not appear in what is written from now on. */
  hide(secrets: readonly string[]): void {
    this.#mask.hide(secrets);
  }

  /** @param text of whole words, in which secrets are found */
  write(text: string): void {
    this.#append(this.#mask.masked(text));
  }

  /** Resolves when everything written has been sent. */
  async end(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
  }

  #append(text: string): void {
    if (this.#isClosed || text === '') return;
    this.#waiting += text;
    this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    try {
      await pause(GATHER_MS);
      while (this.#waiting !== '' && !this.#isClosed) {
        const piece = firstPiece(this.#waiting);
        this.#waiting = this.#waiting.slice(piece.length);
        await this.#controlPlane.writeLog(this.#phase, piece);
      }
    } catch (error) {
      // A phase continues without its log; if it has to stop, other calls will report that.
      if (error instanceof Refused) this.#isClosed = true;
      this.#waiting = '';
    } finally {
      this.#sending = undefined;
    }
  }
}
