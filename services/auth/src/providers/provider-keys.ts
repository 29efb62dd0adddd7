/**
 * Keys of providers in memory. A provider that hangs or is away delays the logins that need a key which nobody has
 * seen yet, and nothing else.
 */
import type { Clock } from '@keelson/clock';
import type { MountScope } from '@keelson/engine';
import type { Logger } from '@keelson/logging';
import { hasKeyOfId, type KeySource, type VerificationKey } from './domain/verification-keys.ts';
import {
  type FetchedKeys,
  type ProviderDocument,
  ProviderFailure,
  type ProviderRequests,
} from './provider-requests.ts';

/** A key that the provider withdraws is refused after this time. */
const FRESH_MS = 5 * 60_000;
/** For which the keys are used while the provider is away. */
const USABLE_MS = 24 * 60 * 60_000;
/** Strangers invent ids of keys, each of which may be one that is new. */
const BETWEEN_REQUESTS_MS = 10_000;
/** The sources that were used last are kept. */
const MAX_SOURCES = 1000;

interface Known extends FetchedKeys {
  readonly atMs: number;
}

/** The keys of one source, for one mount. */
class SourceKeys {
  readonly #fetchKeys: () => Promise<FetchedKeys>;
  readonly #clock: Clock;
  #known: Known | undefined;
  #failure: Error | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor(fetchKeys: () => Promise<FetchedKeys>, clock: Clock) {
    this.#fetchKeys = fetchKeys;
    this.#clock = clock;
  }

  /** @throws ProviderFailure when there are no keys */
  async knownWith(kid: string | undefined): Promise<FetchedKeys> {
    const nowMs = this.#clock.nowMs();
    const known = this.#usable(nowMs);
    const isKnown = known !== undefined && hasKeyOfId(known.keys, kid);
    if (isKnown && nowMs - known.atMs < FRESH_MS) return known;
    // A failed request is repeated while the known keys are used.
    const isAway = this.#failure !== undefined;
    const isDue = nowMs - this.#askedAtMs >= BETWEEN_REQUESTS_MS;
    const asking = this.#running ?? (isDue ? this.#ask() : undefined);
    if (!(isKnown && isAway)) await asking;
    return this.#knownOrFailure();
  }

  /** Fetches the keys now. @throws ProviderFailure */
  async refresh(): Promise<void> {
    await (this.#running ?? this.#ask());
    if (this.#failure !== undefined) throw this.#failure;
  }

  #usable(nowMs: number): Known | undefined {
    return this.#known !== undefined && nowMs - this.#known.atMs < USABLE_MS
      ? this.#known
      : undefined;
  }

  #knownOrFailure(): Known {
    const known = this.#usable(this.#clock.nowMs());
    if (known !== undefined) return known;
    throw this.#failure ?? new ProviderFailure('the provider was not asked again yet');
  }

  /** One request for all who wait; it never rejects. */
  #ask(): Promise<void> {
    const nowMs = this.#clock.nowMs();
    this.#askedAtMs = nowMs;
    this.#running = this.#fetchKeys().then(
      (fetched) => {
        this.#known = { ...fetched, atMs: nowMs };
        this.#failure = undefined;
        this.#running = undefined;
      },
      (error: Error) => {
        this.#failure = error;
        this.#running = undefined;
      },
    );
    return this.#running;
  }
}

export class ProviderKeys {
  readonly #requests: ProviderRequests;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** By mount and source, in the order of their last use. */
  readonly #sources = new Map<string, SourceKeys>();

  constructor({
    requests,
    clock,
    logger,
  }: {
    readonly requests: ProviderRequests;
    readonly clock: Clock;
    readonly logger: Logger;
  }) {
    this.#requests = requests;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The keys of a source, with that of the id if the provider has it. @throws ProviderFailure */
  async keysWith(
    mount: MountScope,
    source: KeySource,
    kid: string | undefined,
  ): Promise<readonly VerificationKey[]> {
    return (await this.#keysOf(mount, source).knownWith(kid)).keys;
  }

  /** The document by which the provider describes itself, fetched with its keys. @throws ProviderFailure */
  async metadataOf(mount: MountScope, source: KeySource): Promise<ProviderDocument | undefined> {
    return (await this.#keysOf(mount, source).knownWith(undefined)).metadata;
  }

  /** Fetches the keys of a source even if they are known. @throws ProviderFailure */
  refresh(mount: MountScope, source: KeySource): Promise<void> {
    return this.#keysOf(mount, source).refresh();
  }

  /** The operator learns from the log why logins fail; who signs in does not. */
  async #fetchKeys(mount: string, source: KeySource): Promise<FetchedKeys> {
    try {
      return await this.#requests.fetchKeys(source);
    } catch (err) {
      this.#logger.warn({ err, mount }, 'the keys of a provider were not fetched');
      throw err;
    }
  }

  #keysOf({ uuid }: MountScope, source: KeySource): SourceKeys {
    const id = JSON.stringify([uuid, source.kind, source.url, source.caPem]);
    const found =
      this.#sources.get(id) ?? new SourceKeys(() => this.#fetchKeys(uuid, source), this.#clock);
    this.#sources.delete(id);
    this.#sources.set(id, found);
    const [oldest] = this.#sources.keys();
    if (this.#sources.size > MAX_SOURCES && oldest !== undefined) this.#sources.delete(oldest);
    return found;
  }
}
