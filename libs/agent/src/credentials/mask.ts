/**
 * Hides secrets in a text. It protects from accidents, such as a program that prints its environment; code that wants to
 * show a secret writes it in another form.
 */

const SHOWN = '(sensitive value)';

export class Mask {
  #secrets: readonly string[] = [];

  /** @param secrets texts without white space */
  hide(secrets: readonly string[]): void {
    // The longest first, as one may contain another.
    this.#secrets = [...this.#secrets, ...secrets].sort((a, b) => b.length - a.length);
  }

  /** @param text of whole words, as a part of a secret is not known from other texts */
  masked(text: string): string {
    return this.#secrets.reduce((shown, secret) => shown.replaceAll(secret, SHOWN), text);
  }
}
