/** Requests to providers that strangers cause by their logins. */
import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';

const MAX_IN_ALL = 32;
/** A provider that does not answer must leave room for the logins of other mounts. */
const MAX_FOR_A_MOUNT = 16;

export class RequestsUnderWay {
  readonly #counts = new Map<string, number>();
  #all = 0;

  /** @throws KeelsonError `request.rate_limited` when too many requests have no answer yet */
  async send<T>({ uuid }: MountScope, request: () => Promise<T>): Promise<T> {
    const ofMount = this.#counts.get(uuid) ?? 0;
    if (this.#all >= MAX_IN_ALL || ofMount >= MAX_FOR_A_MOUNT)
      throw new KeelsonError('request.rate_limited');
    this.#all += 1;
    this.#counts.set(uuid, ofMount + 1);
    try {
      return await request();
    } finally {
      this.#all -= 1;
      const left = (this.#counts.get(uuid) ?? 0) - 1;
      if (left > 0) this.#counts.set(uuid, left);
      else this.#counts.delete(uuid);
    }
  }
}
