/**
 * `doctor`: examines a data folder or a database, whether or not a server is running. It changes nothing without
 * --upgrade.
 */
import { existsSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ExaminedStore, FileLock } from '@keelson/storage';
import type { DatabaseFacts } from '@keelson/storage/postgres/examination';
import type { Command } from 'commander';
import { EXIT } from '../client/failure.ts';
import type { Cli, Environment } from './cli.ts';
import { upgradeRecords } from './upgrade-records.ts';

interface Finding {
  readonly subject: string;
  /** "note": not as it could be, and perhaps chosen. */
  readonly state: 'good' | 'note' | 'fault';
  readonly text: string;
}

const STORES = ['sys', 'pki', 'workspace', 'auth'] as const;
const OTHERS = 0o077;
const SPARE_BYTES = 1024 ** 3;
const GIB = 1024 ** 3;

const good = (subject: string, text: string): Finding => ({ subject, state: 'good', text });
const fault = (subject: string, text: string): Finding => ({ subject, state: 'fault', text });

const RESTORE = 'Put back the whole folder from one copy, or restore a snapshot into an empty one.';

/** @param records number of staged records */
const interrupted = (subject: string, records: number): Finding =>
  fault(
    subject,
    `${records} records of an interrupted restoration wait: start sys (standalone: the server), which finishes it if any store was replaced. Otherwise everything is as before, and the snapshot can be restored again.`,
  );

/** Faults of the file that need no look into it. */
const checkFile = (file: string, missing: string): readonly Finding[] => {
  if (!existsSync(file)) return [fault(file, missing)];
  const { size, mode } = statSync(file);
  if (size === 0) return [fault(file, `It is empty. ${RESTORE}`)];
  return (mode & OTHERS) === 0 ? [] : [fault(file, `Others can read it: chmod 600 ${file}`)];
};

const judgeExamined = (file: string, { sequence, ...store }: ExaminedStore): Finding => {
  const damage = store.findDamage();
  if (damage !== undefined) return fault(file, `It is damaged: ${damage}. ${RESTORE}`);
  return store.stagedRecords > 0
    ? interrupted(file, store.stagedRecords)
    : good(file, `${sequence} commits`);
};

/**
 * The lock that a server holds while it uses the folder; "used" if a server holds it, undefined if the folder has no
 * lock file.
 */
const takeLock = async (folder: string): Promise<FileLock | 'used' | undefined> => {
  const file = join(folder, 'lock.sqlite');
  if (!existsSync(file)) return undefined;
  // Loaded on use, as the parts of the server below: the start of every other command would take twice as long.
  const { takeFileLock } = await import('@keelson/storage');
  return takeFileLock(file) ?? 'used';
};

const KEY_STATES = {
  accepted: 'it opens the seal of sys.sqlite',
  unknown: 'whether it is the one of the cluster shows when sys.sqlite is there',
} as const;

/** The needs of the gateway that are not in the stores. */
const checkEdge = async (
  file: (name: string) => string,
  { keyFile, environment }: DoctorSettings,
  sys: ExaminedStore | undefined,
): Promise<readonly Finding[]> => {
  // Loaded on use, as below.
  const { examineCertificate, examineDevices } = await import(
    '@keelson/standalone-service/edge-examination'
  );
  const certificate = await examineCertificate(
    { file },
    {
      certificateFile: environment['KEELSON_TLS_CERTIFICATE_FILE'],
      keyFile: environment['KEELSON_TLS_KEY_FILE'],
    },
    Date.now(),
  );
  const devices = sys === undefined ? [] : await examineDevices(sys, keyFile);
  return [...(certificate === undefined ? [] : [certificate]), ...devices].map(
    ({ subject, isFault, text }) => (isFault ? fault : good)(subject, text),
  );
};

interface DoctorSettings {
  readonly keyFile: string;
  readonly environment: Environment;
}

/** The stores, the key and the edge. */
const checkParts = async (
  folder: string,
  settings: DoctorSettings,
): Promise<readonly Finding[]> => {
  const { keyFile } = settings;
  // Loaded on use, because it needs the parts of the server.
  const { closeExamined, examineFolder } = await import('@keelson/standalone-service/examination');
  const file = (name: string): string => join(folder, name);
  const lock = await takeLock(folder);
  const examined = await examineFolder({ file }, { keyFile, isInUse: lock === 'used' });
  try {
    // The first fault of a file, which is the one that a start would name.
    const unusable = new Map(examined.faults.toReversed().map((found) => [found.file, found]));
    const judge = (path: string, whenSound: () => Finding): Finding => {
      const found = unusable.get(path);
      return found === undefined ? whenSound() : fault(path, `${found.reason}. ${found.remedy}`);
    };
    const stores = STORES.flatMap((service) => {
      const path = file(`${service}.sqlite`);
      const faults = checkFile(path, `It is missing. ${RESTORE}`);
      if (faults.length > 0) return faults;
      const store = examined.stores[service];
      return [
        judge(path, () =>
          store === undefined
            ? fault(path, `It cannot be read. ${RESTORE}`)
            : judgeExamined(path, store),
        ),
      ];
    });
    const faultsOfKey = checkFile(
      keyFile,
      'It is missing: put it back, or name it with KEELSON_UNSEAL_KEY_FILE.',
    );
    const named = new Set([keyFile, ...STORES.map((service) => file(`${service}.sqlite`))]);
    return [
      ...stores,
      ...(faultsOfKey.length > 0
        ? faultsOfKey
        : [
            judge(keyFile, () =>
              good(keyFile, KEY_STATES[examined.stores.sys === undefined ? 'unknown' : 'accepted']),
            ),
          ]),
      ...[...unusable.keys()]
        .filter((path) => !named.has(path))
        .map((path) => judge(path, () => good(path, ''))),
      ...(await checkEdge(
        file,
        settings,
        // The devices of a store that is refused are not the question.
        unusable.size === 0 ? examined.stores.sys : undefined,
      )),
    ];
  } finally {
    closeExamined(examined.stores);
    if (lock !== 'used') lock?.close();
  }
};

const checkFirstStart = (folder: string): readonly Finding[] => {
  const marker = join(folder, 'first-start-unfinished');
  const facts = join(folder, 'first-run.json');
  return existsSync(marker) && !existsSync(facts)
    ? [fault(marker, 'The first start was interrupted: start the server again to finish it.')]
    : [];
};

const checkDisk = (folder: string): Finding => {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const text = `${(free / GIB).toFixed(1)} GiB free`;
  return free < SPARE_BYTES
    ? fault(folder, `${text}: make room, a full disk refuses writes.`)
    : good(folder, text);
};

/** The setting of the server may be another one than that of the command: only what is set here is a fault. */
const checkRuns = async (
  folder: string,
  { environment }: DoctorSettings,
): Promise<readonly Finding[]> => {
  // Loaded on use, as above.
  const { examineRunner } = await import('@keelson/standalone-service/runner-examination');
  const found = await examineRunner(folder, {
    runner: environment['KEELSON_RUNNER'],
    folder: environment['KEELSON_RUNNER_FOLDER'],
    firstUserId: environment['KEELSON_RUNNER_FIRST_USER_ID'],
  });
  return found === undefined ? [] : [{ subject: 'runs', ...found }];
};

const examine = async (folder: string, settings: DoctorSettings): Promise<readonly Finding[]> =>
  existsSync(folder) && statSync(folder).isDirectory()
    ? [
        checkDisk(folder),
        ...checkFirstStart(folder),
        ...(await checkParts(folder, settings)),
        ...(await checkRuns(folder, settings)),
      ]
    : [fault(folder, 'It is no folder: name the data folder of the server.')];

const GIVEN = 'KEELSON_DATABASE_URL';

/** Without user and password. */
const toSubject = (url: string): string => {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return GIVEN;
  }
};

const examineDatabase = async (environment: Environment): Promise<readonly Finding[]> => {
  const url = environment[GIVEN];
  if (url === undefined || url === '')
    return [fault(GIVEN, 'It is not set: give it the connection string of the database.')];
  const subject = toSubject(url);
  // Loaded on use, because few machines need the client.
  const { examineDatabase: examineIt } = await import('@keelson/storage/postgres/examination');
  try {
    return judgeDatabase(
      subject,
      await examineIt(url, environment['KEELSON_DATABASE_AUTHORITY_FILE']),
    );
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return [
      fault(
        subject,
        `It cannot be read: ${(cause as Error).message}. Check host, user, password and name, and that the server runs.`,
      ),
    ];
  }
};

const judgeStore = (
  subject: string,
  { store, knownFormat }: Pick<DatabaseFacts, 'store' | 'knownFormat'>,
): readonly Finding[] => {
  if (store === undefined)
    return [
      fault(
        subject,
        `It has no tables of a store. If it is not new, it is the wrong database; otherwise the service creates them when it starts.`,
      ),
    ];
  if (store.format !== knownFormat)
    return [
      fault(
        subject,
        `Its format is ${store.format}, this version of Keelson has ${knownFormat}: install the version that wrote it.`,
      ),
    ];
  const found = [good(subject, `format ${store.format}, ${store.sequence} commits`)];
  if (store.stagedRecords > 0) found.push(interrupted(subject, store.stagedRecords));
  return found;
};

const judgeDatabase = (subject: string, facts: DatabaseFacts): readonly Finding[] => {
  const { settings, connections, invalidIndexes } = facts;
  const findings = [
    good(subject, `PostgreSQL ${facts.serverVersion}, ${(facts.sizeBytes / GIB).toFixed(1)} GiB`),
    ...judgeStore(subject, facts),
  ];
  if (facts.isReadOnly)
    findings.push(
      fault(subject, 'It is read-only: connect to the primary, not to a standby of it.'),
    );
  for (const [name, value] of Object.entries(settings))
    if (value === 'off')
      findings.push(
        fault(subject, `${name} is off, so a crash loses acknowledged writes: set it to on.`),
      );
  if (!facts.hasTrigrams)
    findings.push(
      fault(subject, 'The extension pg_trgm is missing: install postgresql-contrib on its server.'),
    );
  if (invalidIndexes.length > 0)
    findings.push(
      fault(subject, `Indexes are invalid: REINDEX INDEX ${invalidIndexes.join(', ')}.`),
    );
  if (connections.used >= connections.limit * 0.9)
    findings.push(
      fault(
        subject,
        `${connections.used} of ${connections.limit} connections are in use; each process of Keelson opens up to 8: raise max_connections.`,
      ),
    );
  return findings;
};

interface DoctorOptions {
  readonly database?: true;
  readonly upgrade?: true;
}

export const addDoctorCommand = (program: Command, cli: Cli): void => {
  program
    .command('doctor')
    .description(
      'Check a data folder or a database, and say what to do; exit code 2 if something is wrong.',
    )
    .argument('[folder]', 'data folder', cli.environment['KEELSON_DATA_DIR'] ?? './data')
    .option(
      '--upgrade',
      'end an upgrade of the running cluster: rewrite all records of older versions. The version before cannot be started again',
    )
    .option('--database', `the PostgreSQL database that ${GIVEN} names, instead of a folder`)
    .action(async (folder: string, { database, upgrade }: DoctorOptions) => {
      if (upgrade === true) {
        await upgradeRecords(cli);
        return;
      }
      const findings =
        database === true
          ? await examineDatabase(cli.environment)
          : await examine(folder, {
              keyFile: cli.environment['KEELSON_UNSEAL_KEY_FILE'] ?? join(folder, 'unseal.key'),
              environment: cli.environment,
            });
      cli.printTable(
        findings,
        findings.map(({ state, subject, text }) => [state, subject, text]),
      );
      if (findings.some(({ state }) => state === 'fault')) process.exitCode = EXIT.notWell;
    });
};
