/**
 * The reason why a repository or its provider could not be used, as shown to readers of the
 * workspace.
 */
export class RepositoryFailure extends Error {
  /** Another attempt would fail in the same way. */
  readonly isFinal: boolean;

  constructor(message: string, { isFinal = false }: { readonly isFinal?: boolean } = {}) {
    super(message);
    this.isFinal = isFinal;
  }
}
