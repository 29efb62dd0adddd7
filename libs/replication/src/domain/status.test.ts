import { describe, expect, test } from 'vitest';
import { connectionStateOf } from './connection-state.ts';
import {
  canaryAgeMs,
  clockSkewMs,
  connectionStatusOf,
  lagEntryCount,
  roundTripMs,
} from './heartbeat.ts';
import { toEpochText, toPeerDocument, toTimestamp } from './status-document.ts';

describe('a heartbeat', () => {
  const times = { sentAtMs: 1000, receivedAtMs: 1100, primaryNowMs: 1550 };

  test('measures the difference of the clocks, halfway through the round trip', () => {
    expect(clockSkewMs(times)).toBe(500);
    expect(clockSkewMs({ ...times, primaryNowMs: 50 })).toBe(-1000);
    expect(roundTripMs(times)).toBe(100);
  });

  test('gives the canary an age by the clock of the primary', () => {
    expect(canaryAgeMs(1500, 1100, 500)).toBe(100);
    expect(canaryAgeMs(1700, 1100, 500)).toBe(0);
  });

  test('counts as connected until three in a row are missing', () => {
    expect(connectionStatusOf(0, 3000, 1000)).toBe('connected');
    expect(connectionStatusOf(0, 3001, 1000)).toBe('disconnected');
  });
});

test('never has a negative lag: the newest known log position may be older than the newest applied', () => {
  expect(lagEntryCount(10, 7)).toBe(3);
  expect(lagEntryCount(7, 10)).toBe(0);
});

describe('a connection', () => {
  const running = { activity: 'running', bus: 'connected', newestQuestion: 'answered' } as const;
  test.for([
    ['ready', running],
    ['connecting', { ...running, newestQuestion: 'none' }],
    ['transient_failure', { ...running, newestQuestion: 'failed' }],
    ['transient_failure', { ...running, bus: 'reconnecting' }],
    ['idle', { ...running, activity: 'not_started' }],
    ['shutdown', { ...running, activity: 'stopped' }],
    ['shutdown', { ...running, bus: 'closed' }],
  ] as const)('is %s', ([expected, facts]) => {
    expect(connectionStateOf(facts)).toBe(expected);
  });
});

describe('a status document', () => {
  test('writes skew, duration and canary age as strings', () => {
    const atMs = Date.UTC(2030, 0, 2, 3, 4, 5, 678);
    expect(
      toPeerDocument(
        {
          apiAddress: 'https://a',
          clusterAddress: 'nats://a',
          clockSkewMs: -3,
          lastHeartbeatAtMs: atMs,
          roundTripMs: 2,
          canaryAgeMs: 40,
        },
        atMs,
        1000,
      ),
    ).toEqual({
      api_address: 'https://a',
      cluster_address: 'nats://a',
      clock_skew_ms: '-3',
      connection_status: 'connected',
      last_heartbeat: '2030-01-02T03:04:05Z',
      last_heartbeat_duration_ms: '2',
      replication_primary_canary_age_ms: '40',
    });
  });

  test('writes epochs in seconds as text', () => {
    expect(toEpochText(1_893_553_445_678)).toBe('1893553445');
    expect(toTimestamp(0)).toBe('1970-01-01T00:00:00Z');
  });
});
