/**
 * Passes a text that arrives in pieces on in whole words. Secrets are words, so that one is masked whatever is written
 * between its pieces: the other stream of the tool, or a sentence of the agent.
 */
export class WholeWords {
  readonly #pass: (text: string) => void;
  /** The word at the end of the text so far, which may go on. */
  #held = '';

  constructor(pass: (text: string) => void) {
    this.#pass = pass;
  }

  add(text: string): void {
    const end = Math.max(text.lastIndexOf(' '), text.lastIndexOf('\n')) + 1;
    if (end > 0) this.#pass(this.#held + text.slice(0, end));
    this.#held = end > 0 ? text.slice(end) : this.#held + text;
  }

  /** Passes the last word on. */
  end(): void {
    if (this.#held !== '') this.#pass(this.#held);
    this.#held = '';
  }
}
