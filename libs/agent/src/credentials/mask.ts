/**
 * Hides secrets in a text that arrives in pieces. It protects from accidents, such as a program that prints its
 * environment; code that wants to show a secret writes it in another form.
 */

const SHOWN = '(sensitive value)';

export class Mask {
  #secrets: readonly string[] = [];
  #longest = 0;
  /** The end of the text so far, in which a secret may have begun. */
  #held = '';

  /** @param secrets texts without white space */
  hide(secrets: readonly string[]): void {
    // The longest first, as one may contain another.
    this.#secrets = [...this.#secrets, ...secrets].sort((a, b) => b.length - a.length);
    this.#longest = this.#secrets[0]?.length ?? 0;
  }

  /** The part of the text that no secret can begin in any more. */
  pass(text: string): string {
    if (this.#longest === 0) return text;
    const shown = this.#masked(this.#held + text);
    const from = Math.max(shown.length - this.#longest + 1, 0);
    const spaces = [' ', '\n'].map((space) => shown.lastIndexOf(space) + 1);
    const end = Math.max(from, ...spaces);
    this.#held = shown.slice(end);
    return shown.slice(0, end);
  }

  /** The text that was held back, at the end. */
  rest(): string {
    const shown = this.#masked(this.#held);
    this.#held = '';
    return shown;
  }

  #masked(text: string): string {
    return this.#secrets.reduce((shown, secret) => shown.replaceAll(secret, SHOWN), text);
  }
}
