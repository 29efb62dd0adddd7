/** Status objects of both sides, checked member by member against the administration document. */
import { messageOf } from '@keelson/proto/message';
import {
  ReplicationPeer,
  ReplicationReport,
  ReplicationSecondaryReport,
} from '@keelson/proto/sys/v1/replication';
import { describe, expect, test } from 'vitest';
import { toMerkleReport, toPrimaryStatus, toSecondaryStatus } from './status-document.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const SERVICES = ['sys', 'pki', 'workspace'];

/** Type names such as "string"; arrays are listed as such. */
const typesOf = (document: object): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(document).map(([name, value]) => [
      name,
      Array.isArray(value) ? 'array' : typeof value,
    ]),
  );

const PEER = {
  api_address: 'string',
  clock_skew_ms: 'string',
  cluster_address: 'string',
  connection_status: 'string',
  last_heartbeat: 'string',
  last_heartbeat_duration_ms: 'string',
  replication_primary_canary_age_ms: 'string',
};
const COMMON = {
  cluster_id: 'string',
  corrupted_merkle_tree: 'boolean',
  last_corruption_check_epoch: 'string',
  last_reindex_epoch: 'string',
  merkle_root: 'string',
  mode: 'string',
  primary_cluster_addr: 'string',
  ssct_generation_counter: 'number',
  state: 'string',
};

const peer = messageOf(ReplicationPeer, {
  id: 'branch',
  lastHeartbeatAtMs: BigInt(NOW_MS - 1000),
  lastRemoteWal: 3n,
});
const LINK = {
  secondaryId: 'branch',
  keys: { publicKey: '', privateKey: '' },
  primaryPublicKey: '',
  addresses: ['nats://a'],
};
const primaryReport = messageOf(ReplicationReport, {
  lastWal: 4n,
  merkleRoot: 'ab',
  side: { $case: 'primary', value: { secondaries: [peer] } },
});
const primaryRole = {
  role: 'primary',
  clusterId: 'set',
  generation: 'one',
  primaryClusterAddress: '',
} as const;

const SET = { knownSecondaries: [], promotion: 0, isSuperseded: false };

describe('a primary', () => {
  const statusOf = (kind: 'performance' | 'dr') =>
    toPrimaryStatus(
      kind,
      primaryRole,
      { ...SET, knownSecondaries: ['branch', 'unused'] },
      SERVICES.map((service) => ({ service, report: primaryReport })),
      NOW_MS,
    );

  test('that was superseded says so, and shows its promotion number', () => {
    const set = { ...SET, promotion: 2, isSuperseded: true };
    expect(toPrimaryStatus('dr', primaryRole, set, [], NOW_MS)).toMatchObject({
      mode: 'primary',
      state: 'superseded',
      ssct_generation_counter: 2,
    });
  });

  test.for([
    ['performance', 'last_performance_wal', 'last_dr_wal'],
    ['dr', 'last_dr_wal', 'last_performance_wal'],
  ] as const)('of %s shows the documented members', ([kind, own, other]) => {
    const status = statusOf(kind);
    expect(typesOf(status)).toEqual({
      ...COMMON,
      known_secondaries: 'array',
      last_wal: 'number',
      nats_connected: 'boolean',
      [own]: 'number',
      secondaries: 'array',
    });
    expect(status).not.toHaveProperty(other);
    expect(status).toMatchObject({
      mode: 'primary',
      state: 'running',
      known_secondaries: ['branch', 'unused'],
      last_wal: 12,
      last_corruption_check_epoch: '-62135596800',
      last_reindex_epoch: '0',
    });
    const [secondary] = status['secondaries'] as readonly object[];
    expect(typesOf(secondary ?? {})).toMatchObject({ ...PEER, node_id: 'string' });
    expect(secondary).toMatchObject({
      node_id: 'branch',
      connection_status: 'connected',
      last_heartbeat: '2026-11-21T11:59:59Z',
      lag_entries: 3,
    });
  });

  test('without heartbeats from a secondary shows it further behind with every second', () => {
    const lagAt = (heardMsAgo: number, canaryAgeMs: bigint | undefined) => {
      const lastHeartbeatAtMs = BigInt(NOW_MS - heardMsAgo);
      const secondary = { ...peer, lastHeartbeatAtMs, canaryAgeMs };
      const report = messageOf(ReplicationReport, {
        side: { $case: 'primary', value: { secondaries: [secondary] } },
      });
      const shown = toPrimaryStatus('dr', primaryRole, SET, [{ service: 'sys', report }], NOW_MS);
      const [one] = shown['secondaries'] as readonly Readonly<Record<string, unknown>>[];
      return [one?.['lag_ms'], one?.['replication_primary_canary_age_ms']];
    };
    expect(lagAt(1000, 800n)).toEqual([800, '800']);
    expect(lagAt(5000, 800n)).toEqual([800, '800']);
    expect(lagAt(65_000, 800n)).toEqual([60_800, '60800']);
    expect(lagAt(1000, undefined)).toEqual([null, '0']);
  });
});

describe('a secondary', () => {
  const statusOf = (
    sides: readonly Partial<ReplicationSecondaryReport>[],
    link: typeof LINK | null = LINK,
  ) =>
    toSecondaryStatus(
      {
        ...primaryRole,
        role: 'secondary',
        primaryClusterAddress: 'nats://a',
        activation: '',
        previousRootKey: '',
        ...(link && { link }),
      },
      sides.map((side, at) => ({
        service: SERVICES[at] ?? '',
        report: messageOf(ReplicationReport, {
          merkleRoot: 'ab',
          side: {
            $case: 'secondary',
            value: messageOf(ReplicationSecondaryReport, {
              mode: 'secondary',
              state: 'stream-wals',
              connectionState: 'ready',
              ...side,
            }),
          },
        }),
      })),
      NOW_MS,
    );

  test('shows the documented members', () => {
    const status = statusOf(SERVICES.map(() => ({ lastRemoteWal: 5n, primary: peer })));
    expect(typesOf(status)).toMatchObject({
      ...COMMON,
      connection_state: 'string',
      known_primary_cluster_addrs: 'array',
      last_remote_wal: 'number',
      last_start: 'string',
      primaries: 'array',
      secondary_id: 'string',
    });
    expect(status).toMatchObject({
      mode: 'secondary',
      state: 'stream-wals',
      connection_state: 'ready',
      last_remote_wal: 15,
      known_primary_cluster_addrs: ['nats://a'],
    });
    const [shown] = status['primaries'] as readonly object[];
    expect(typesOf(shown ?? {})).toEqual(PEER);
  });

  test.for([
    [['stream-wals', 'merkle-diff', 'stream-wals'], 'merkle-diff'],
    [['merkle-sync', 'stream-wals', 'stream-wals'], 'merkle-sync'],
    [['stream-wals', 'merkle-diff', 'idle'], 'idle'],
  ] as const)('of services that are %j is %s', ([states, shown]) => {
    expect(statusOf(states.map((state) => ({ state })))['state']).toBe(shown);
  });

  test.for([
    [['ready', 'ready', 'connecting'], 'connecting'],
    [['ready', 'transient_failure', 'connecting'], 'transient_failure'],
    [['ready', 'idle', 'ready'], 'idle'],
    [['ready', 'shutdown', 'ready'], 'shutdown'],
  ] as const)('connected as %j is %s', ([states, shown]) => {
    const sides = states.map((connectionState) => ({ connectionState }));
    expect(statusOf(sides)['connection_state']).toBe(shown);
  });

  test('is bootstrapping while a service is', () => {
    expect(statusOf([{}, { mode: 'bootstrapping' }, {}])['mode']).toBe('bootstrapping');
  });

  test('without a primary is idle, and keeps the id of its set', () => {
    expect(statusOf([{}], null)).toMatchObject({
      mode: 'secondary',
      cluster_id: 'set',
      state: 'idle',
      connection_state: 'shutdown',
      secondary_id: '',
    });
  });
});

test('merkle-check reports the trees and derived tables of all services', () => {
  const tree = (isCorrupted: boolean) => ({
    corrupted_index_tuples_map: isCorrupted ? { 23: { corrupted: true, subpages: [7] } } : null,
    corrupted_subtree_root: isCorrupted,
    root_hash: 'aGFzaA==',
    tree_type: 'replicated',
  });
  const report = (isCorrupted: boolean) =>
    JSON.stringify({
      corrupted_root: isCorrupted,
      corrupted_tree_map: { 1: tree(isCorrupted) },
      corrupted_tables: isCorrupted ? ['pki_certificate'] : [],
    });
  const reports = new Map([
    ['sys', report(false)],
    ['pki', report(true)],
  ]);
  expect(toMerkleReport(reports, NOW_MS)).toEqual({
    merkle_corruption_report: {
      corrupted_root: true,
      corrupted_tree_map: {
        1: { ...tree(false), service: 'sys' },
        2: { ...tree(true), service: 'pki' },
      },
      corrupted_tables: ['pki/pki_certificate'],
      last_corruption_check_epoch: '2026-11-21T12:00:00Z',
    },
    last_corruption_check_epoch: '2026-11-21T12:00:00Z',
  });
});
