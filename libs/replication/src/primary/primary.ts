/**
 * The primary's side of a service: answers what admitted secondaries ask, and remembers their
 * heartbeats. Who is not admitted, or not any more, gets no answer it could read.
 */
import type { Bus } from '@keelson/bus';
import { type Clock, systemClock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { Heartbeat } from '@keelson/proto/replication/v1/replication';
import type { Store } from '@keelson/storage';
import { deriveLinkKey } from '../cipher/link-key.ts';
import type { ReplicationKind } from '../domain/crossing.ts';
import type { PeerFacts } from '../domain/status-document.ts';
import type { AdmittedSecondary, Membership } from '../membership/membership.ts';
import { questionSubject, streamOf } from '../wire/names.ts';
import { type Ask, openQuestion, parseSealedQuestion, type Told } from '../wire/questions.ts';
import { answerDigests, answerPage, answerRecordPart, answerRecords } from './record-pages.ts';
import { loadStreamEnd } from './stream-position.ts';

/** What a secondary needs to read what it is sent. */
export interface KeyringHandover {
  readonly rootKey: Uint8Array;
  readonly wrappedKeyring: Uint8Array;
}

export interface PrimaryOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly membership: Membership;
  readonly kind: ReplicationKind;
  readonly service: string;
  /** The keyring of the store's barrier as it is now. */
  readonly handover: () => Promise<KeyringHandover>;
  /** Where secondaries find the primary, and those that may take its place. */
  readonly clusterAddresses: () => Promise<readonly string[]>;
  /** Answers a request that a secondary may not serve itself; bytes of the edge's messages. */
  readonly serveForwarded?: (request: Uint8Array) => Promise<Uint8Array>;
  readonly clock?: Clock;
}

/** A secondary that has sent heartbeats to this node since it started. */
export interface SecondaryFacts extends PeerFacts {
  readonly id: string;
  readonly lastRemoteWal: number;
  /** Over stream and answers, since the start of the secondary's process. */
  readonly bytesReceived: number;
  /** Of the newest comparison that the secondary completed. */
  readonly resync: { readonly records: number; readonly bytes: number };
}

export class Primary {
  readonly #options: PrimaryOptions;
  readonly #clock: Clock;
  readonly #heard = new Map<string, SecondaryFacts & { readonly sentAtMs: number }>();

  constructor(options: PrimaryOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Answers until `signal` aborts. Resolves once questions arrive. */
  async serve(signal: AbortSignal): Promise<void> {
    const { bus, membership, service } = this.#options;
    const { clusterId } = await membership.identity();
    const subject = questionSubject(clusterId, service);
    await bus.respond(subject, (payload) => this.#answer(subject, payload), signal);
  }

  /** Those that are still admitted. */
  async secondaries(): Promise<readonly SecondaryFacts[]> {
    const heard: SecondaryFacts[] = [];
    for (const [id, { sentAtMs: _, ...facts }] of this.#heard)
      if ((await this.#options.membership.findSecondary(id)) === undefined) this.#heard.delete(id);
      else heard.push(facts);
    return heard;
  }

  async #answer(subject: string, payload: Uint8Array): Promise<Uint8Array> {
    const { membership } = this.#options;
    const sealed = parseSealedQuestion(payload);
    const secondary = await membership.findSecondary(sealed.secondaryId);
    if (secondary === undefined)
      throw new KeelsonError('replication.not_admitted', { secondary: sealed.secondaryId });
    const { clusterId, keys } = await membership.identity();
    const linkKey = deriveLinkKey({
      own: keys,
      peerPublicKey: secondary.publicKey,
      clusterId,
      secondaryId: secondary.id,
    });
    const question = openQuestion(linkKey, subject, sealed);
    return question.sealAnswer(await this.#tell(secondary, question.ask));
  }

  async #tell(secondary: AdmittedSecondary, ask: Ask): Promise<Told> {
    const { store, kind, handover } = this.#options;
    switch (ask.$case) {
      case 'position':
        return this.#tellPosition();
      case 'digests':
        return {
          $case: 'digests',
          value: { digests: await answerDigests(store, kind, ask.value) },
        };
      case 'page':
        return { $case: 'page', value: await answerPage(store, kind, ask.value) };
      case 'records':
        return { $case: 'records', value: await answerRecords(store, kind, ask.value) };
      case 'recordPart':
        return { $case: 'recordPart', value: await answerRecordPart(store, kind, ask.value) };
      case 'keyring': {
        const { rootKey, wrappedKeyring } = await handover();
        return {
          $case: 'keyring',
          value: { rootKey: Buffer.from(rootKey), wrappedKeyring: Buffer.from(wrappedKeyring) },
        };
      }
      case 'epoch':
        return this.#tellEpoch(secondary, Number(ask.value.epoch));
      case 'heartbeat':
        return this.#tellHeartbeat(secondary, ask.value);
      case 'forward':
        return this.#tellForwarded(ask.value.request);
    }
  }

  async #tellForwarded(request: Uint8Array): Promise<Told> {
    const { serveForwarded, store } = this.#options;
    if (serveForwarded === undefined) throw new KeelsonError('replication.not_ready');
    const response = await serveForwarded(request);
    const walSequence = await store.wal.headSequence();
    return {
      $case: 'forward',
      value: { response: Buffer.from(response), walSequence: BigInt(walSequence) },
    };
  }

  /** Read before anything the secondary copies: it streams from there and misses nothing. */
  async #tellPosition(): Promise<Told> {
    const { bus, membership, service } = this.#options;
    const { clusterId, logId } = await membership.identity();
    const { published } = await loadStreamEnd(bus, streamOf(clusterId, service));
    if (published?.logId !== logId) throw new KeelsonError('replication.not_ready');
    return {
      $case: 'position',
      value: {
        logId,
        walSequence: BigInt(published.walSequence),
        streamSequence: BigInt(published.streamSequence),
        epoch: BigInt((await membership.currentEpoch()).epoch),
      },
    };
  }

  async #tellEpoch({ id, firstEpoch }: AdmittedSecondary, epoch: number): Promise<Told> {
    const found = epoch < firstEpoch ? undefined : await this.#options.membership.findEpoch(epoch);
    if (found === undefined) throw new KeelsonError('replication.not_admitted', { secondary: id });
    return { $case: 'epoch', value: { key: Buffer.from(found.key) } };
  }

  async #tellHeartbeat({ id }: AdmittedSecondary, heartbeat: Heartbeat): Promise<Told> {
    const nowMs = this.#clock.nowMs();
    const sentAtMs = Number(heartbeat.sentAtMs);
    // An older one that was held back, or is played again, tells nothing.
    if (sentAtMs >= (this.#heard.get(id)?.sentAtMs ?? 0))
      this.#heard.set(id, {
        id,
        sentAtMs,
        lastRemoteWal: Number(heartbeat.lastRemoteWal),
        apiAddress: heartbeat.apiAddress,
        clusterAddress: heartbeat.clusterAddress,
        clockSkewMs: Number(heartbeat.clockSkewMs),
        lastHeartbeatAtMs: nowMs,
        roundTripMs: Number(heartbeat.roundTripMs),
        bytesReceived: Number(heartbeat.bytesReceived),
        resync: {
          records: Number(heartbeat.resyncRecords),
          bytes: Number(heartbeat.resyncBytes),
        },
        canaryAgeMs:
          heartbeat.canaryAgeMs === undefined ? undefined : Number(heartbeat.canaryAgeMs),
      });
    return {
      $case: 'heartbeat',
      value: {
        nowMs: BigInt(nowMs),
        lastWal: BigInt(await this.#options.store.wal.headSequence()),
        primaryClusterAddresses: [...(await this.#options.clusterAddresses())],
      },
    };
  }
}
