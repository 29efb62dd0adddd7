/** The related resources that a document includes, each once. */
import type { Resource } from '@keelson/jsonapi';
import { unlessDamaged } from '@keelson/storage';

type Loaded = Resource | readonly Resource[] | undefined;

/**
 * Collects included resources. Resources that need a damaged record are left out, so that the document is answered
 * without them; the store reports the record.
 */
export class IncludedResources {
  readonly #found = new Map<string, Resource>();

  /** In the order in which they were added. */
  get all(): readonly Resource[] {
    return [...this.#found.values()];
  }

  async add(loading: Promise<Loaded>): Promise<void> {
    const loaded = await unlessDamaged(loading);
    for (const resource of loaded === undefined ? [] : [loaded].flat()) {
      this.#found.set(`${resource.type} ${resource.id}`, resource);
    }
  }

  /** Adds one resource for each of some related ids. */
  async addEach(
    listing: Promise<readonly string[]>,
    load: (id: string) => Promise<Loaded>,
  ): Promise<void> {
    for (const id of (await unlessDamaged(listing)) ?? []) await this.add(load(id));
  }
}
