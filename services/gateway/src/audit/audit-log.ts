/**
 * The audit devices of the cluster, as this process writes to them. With at least one device
 * enabled, a request is served, and its answer given, only after one of them has accepted the
 * entry.
 */
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { AccessDefinition, AuditDevice } from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';
import type { AuditFileRules } from './audit-file.ts';
import { type AuditSink, openAuditSink, reasonOf } from './audit-sink.ts';
import {
  type AuditedAnswer,
  type AuditedExchange,
  buildRequestEntry,
  buildResponseEntry,
  type EntryRules,
} from './domain/audit-entry.ts';
import type { Json } from './domain/readable-names.ts';
import { type RecentRequest, recentRequest, withRecent } from './domain/recent-request.ts';

interface OpenDevice {
  /** Why the last entry was not accepted; undefined if it was. */
  refusal?: unknown;
  readonly device: AuditDevice;
  readonly rules: EntryRules;
  readonly prefix: string;
  readonly sink: AuditSink;
}

export interface AuditLog {
  /**
   * Adopts the devices of a generation of the configuration. @returns whether requests must be
   * recorded
   */
  follow(generation: number): Promise<boolean>;
  /** @throws KeelsonError `audit.not_recorded` */
  request(exchange: AuditedExchange): Promise<void>;
  /** @throws KeelsonError `audit.not_recorded` */
  response(exchange: AuditedExchange, answer: AuditedAnswer): Promise<void>;
  /** The devices of a generation that cannot be written to, each with the reason. */
  faults(generation: number): Promise<readonly string[]>;
  /** The same of the devices that sys has now; none of them is used yet. Empty while sys is sealed. */
  faultsAhead(): Promise<readonly string[]>;
  /** The newest exchanges that were recorded, newest first. */
  recent(): readonly RecentRequest[];
  /**
   * Writes an entry to a device that is about to be enabled.
   * @throws KeelsonError `request.invalid` when it does not accept it
   */
  tryDevice(device: AuditDevice): Promise<void>;
  /** Reopens the files by name, after log rotation has moved them. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

export interface AuditLogParts {
  readonly access: RpcService<typeof AccessDefinition>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onRefused: () => void;
  /** When false, an exchange continues although no device accepted its entry; the failure is logged. */
  readonly isRequired: boolean;
  /** Paths that file devices may write to. */
  readonly files: AuditFileRules;
}

const MAX_FETCHES = 3;

/** The entry written to test a device. */
const TRIAL: AuditedExchange = {
  requestId: '',
  operation: 'update',
  path: 'sys/audit/test',
  remoteAddress: '',
  namespace: { id: 'root', path: '' },
  mountType: 'system',
  mountAccessor: '',
  caller: undefined,
  data: undefined,
  isJsonApi: false,
  plainRequestKeys: [],
  plainResponseKeys: [],
};

const toLine = (prefix: string, entry: Json): string => `${prefix}${JSON.stringify(entry)}\n`;

const openDevice = (device: AuditDevice, files: AuditFileRules): OpenDevice => {
  const { options } = device;
  return {
    device,
    rules: {
      key: device.salt,
      isRaw: options['log_raw'] === 'true',
      hidesAccessors: options['hmac_accessor'] !== 'false',
      elidesLists: options['elide_list_responses'] === 'true',
    },
    prefix: options['prefix'] ?? '',
    sink: openAuditSink(device.type, options, files),
  };
};

export const createAuditLog = (parts: AuditLogParts): AuditLog => {
  const { access, clock, logger, onRefused, isRequired, files } = parts;
  let generation = 0;
  let devices: readonly OpenDevice[] = [];
  let fetching: Promise<void> | undefined;
  let recent: readonly RecentRequest[] = [];

  const fetchDevices = async (current: number): Promise<void> => {
    const list = await access.auditDevices({});
    const former = devices;
    // A restoration brings back an earlier generation, of which both answers then tell. One of them alone is of a
    // lagging replica.
    if (list.generation < generation && list.generation !== current) return;
    devices = list.devices.map((device) => openDevice(device, files));
    generation = list.generation;
    for (const { sink } of former) await sink.close();
  };

  const record = async (
    kind: 'request' | 'response',
    build: (rules: EntryRules, time: string) => Json,
  ): Promise<void> => {
    const time = new Date(clock.nowMs()).toISOString();
    const results = await Promise.allSettled(
      devices.map(({ rules, prefix, sink }) => sink.write(toLine(prefix, build(rules, time)))),
    );
    results.forEach((result, index) => {
      const written = devices[index];
      if (written !== undefined)
        written.refusal = result.status === 'rejected' ? result.reason : undefined;
      if (result.status === 'rejected')
        logger.error(
          { err: result.reason as unknown, device: devices[index]?.device.path },
          'audit device did not accept an entry',
        );
    });
    if (results.length > 0 && results.every(({ status }) => status === 'rejected')) {
      onRefused();
      if (isRequired) throw new KeelsonError('audit.not_recorded', { kind });
    }
  };

  const follow = async (current: number): Promise<boolean> => {
    // 0 means that no device was ever enabled, or that sys is sealed and serves nothing that is
    // recorded.
    if (current === 0) return false;
    // A fetch in progress may have been answered before the change, or by a lagging replica.
    for (let tries = 0; generation !== current && tries < MAX_FETCHES; tries++) {
      fetching ??= fetchDevices(current).finally(() => {
        fetching = undefined;
      });
      await fetching;
    }
    if (generation < current) throw new KeelsonError('audit.not_recorded', { kind: 'request' });
    return devices.length > 0;
  };

  const faultOf = async ({ device, sink, refusal }: OpenDevice): Promise<string | undefined> => {
    const error =
      refusal ??
      (await sink.check().then(
        () => undefined,
        (cause: unknown) => cause,
      ));
    return error === undefined
      ? undefined
      : `the audit device ${device.path} cannot be written to (${reasonOf(error)})`;
  };

  return {
    follow,
    faults: async (current) => {
      const isEnabled = await follow(current).catch(() => undefined);
      if (isEnabled === undefined) return ['the audit devices cannot be read'];
      const found = await Promise.all(devices.map(faultOf));
      return found.filter((fault) => fault !== undefined);
    },
    faultsAhead: async () => {
      const list = await access.auditDevices({}).catch(() => undefined);
      const ahead = (list?.devices ?? []).map((device) => openDevice(device, files));
      const found = await Promise.all(ahead.map(faultOf));
      for (const { sink } of ahead) await sink.close();
      return found.filter((fault) => fault !== undefined);
    },
    request: (exchange) =>
      record('request', (rules, time) => buildRequestEntry(exchange, rules, time)),
    response: async (exchange, answer) => {
      await record('response', (rules, time) => buildResponseEntry(exchange, answer, rules, time));
      recent = withRecent(recent, recentRequest(exchange, answer, clock.nowMs()));
    },
    recent: () => recent,
    tryDevice: async (device) => {
      const { sink, prefix, rules } = openDevice(device, files);
      const time = new Date(clock.nowMs()).toISOString();
      try {
        await sink.write(toLine(prefix, buildRequestEntry(TRIAL, rules, time)));
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : 'unknown';
        const text = `the audit device cannot be written to: ${reason}`;
        throw new KeelsonError('request.invalid', { text }, { cause });
      } finally {
        await sink.close();
      }
    },
    reopen: async () => {
      for (const { device, sink } of devices) if (device.type === 'file') await sink.close();
    },
    close: async () => {
      for (const { sink } of devices) await sink.close();
    },
  };
};
