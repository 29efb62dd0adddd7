/**
 * Looks at the data folder of a cluster before anything in it is opened for writing, so that a start that is
 * refused leaves every file as it was. The doctor reports the same faults.
 */
import { hasCode, KeelsonError } from '@keelson/errors';
import { type ExaminedStore, examineSqliteStore, loadRestoration } from '@keelson/storage';
import { examineCluster } from '@keelson/sys-service/examination';
import {
  type DataFiles,
  putBack,
  STORE_SERVICES,
  type StoreService,
  storeFile,
} from './first-start.ts';
// Loads the declarations of all records.
import './stores.ts';
import { originRecord } from './store-origin.ts';
import { loadPositions, type Positions, positionsFile, storesNeverHad } from './store-positions.ts';

/** Why a start is refused. */
export interface FolderFault {
  readonly file: string;
  readonly reason: string;
  /** One or more sentences. */
  readonly remedy: string;
  readonly cause?: unknown;
}

export interface ExaminedFolder {
  readonly faults: readonly FolderFault[];
  /** The stores that could be examined. */
  readonly stores: Partial<Readonly<Record<StoreService, ExaminedStore>>>;
}

export interface FolderExamination {
  /** Key file of the seal. */
  readonly keyFile: string;
  /** Whether a process has the stores open. */
  readonly isInUse?: boolean;
  /** Stores whose lost commits were accepted, with the commit that each ends with: `pki:120`. */
  readonly acceptedLosses?: readonly string[];
}

type Examined = Partial<Record<StoreService, ExaminedStore>>;

/** The caller closes the stores (`closeExamined`). */
export const examineFolder = async (
  folder: DataFiles,
  { keyFile, isInUse = false, acceptedLosses = [] }: FolderExamination,
): Promise<ExaminedFolder> => {
  const stores: Examined = {};
  const faults: FolderFault[] = [];
  const neverHad = storesNeverHad(folder);
  for (const service of STORE_SERVICES) {
    const file = storeFile(folder, service);
    if (neverHad.includes(service)) continue;
    try {
      stores[service] = examineSqliteStore(file, { isInUse });
    } catch (cause) {
      const reason = KeelsonError.from(cause).message;
      faults.push({ file, reason, remedy: remedyOf(cause), cause });
    }
  }
  if (stores.sys !== undefined)
    faults.push(...(await faultsOfCluster(folder, stores.sys, stores, keyFile)));
  faults.push(...lostCommits(folder, stores, acceptedLosses));
  return { faults, stores };
};

export const closeExamined = (stores: ExaminedFolder['stores']): void => {
  for (const store of Object.values(stores)) store.close();
};

const faultsOfCluster = async (
  folder: DataFiles,
  sys: ExaminedStore,
  stores: Examined,
  keyFile: string,
): Promise<readonly FolderFault[]> => {
  const file = storeFile(folder, 'sys');
  const facts = await examineCluster(sys, keyFile);
  if (!facts.isInitialized)
    return [
      {
        file,
        reason: 'it holds no cluster, although the data folder is not new',
        remedy: putBack('the file'),
      },
    ];
  // The other stores may already be those of the snapshot.
  if (facts.isRestorationPending) return [];
  const faults: FolderFault[] = [];
  const own = await originRecord.find(sys);
  const restoration = (await loadRestoration(sys))?.id;
  for (const [service, store] of Object.entries(stores)) {
    const origin = await originRecord.find(store);
    // The snapshot of a release without the service has emptied its store, together with all others.
    if (origin === undefined && restoration !== undefined)
      if ((await loadRestoration(store))?.id === restoration) continue;
    const place = storeFile(folder, service as StoreService);
    const reason =
      origin?.id === own?.id
        ? `it is the store of ${origin?.service ?? service}`
        : `it does not belong to ${file}: it is empty, or of another cluster`;
    if (origin?.id !== own?.id || (origin?.service ?? service) !== service)
      faults.push({ file: place, reason, remedy: putBack('the one that was here') });
  }
  if (!facts.isKeyAccepted) {
    const cause = new KeelsonError('sys.wrong_unseal_key');
    faults.push({ file: keyFile, reason: cause.message, remedy: putBack('the key'), cause });
  }
  return faults;
};

const remedyOf = (cause: unknown): string =>
  hasCode(cause, 'storage.unknown_format', 'storage.superseded')
    ? 'Nothing was changed. Install the version of Keelson that used this folder last.'
    : putBack('the file');

/** The stores that end before a commit that they had. */
const lostCommits = (
  folder: DataFiles,
  stores: Examined,
  acceptedLosses: readonly string[],
): readonly FolderFault[] => {
  let known: Positions;
  try {
    known = loadPositions(folder);
  } catch (cause) {
    const reason = `it cannot be read: ${(cause as Error).message}`;
    return [{ file: positionsFile(folder), reason, remedy: putBack('the file'), cause }];
  }
  return STORE_SERVICES.flatMap((service) => {
    const { sequence = Infinity } = stores[service] ?? {};
    const { [service]: had = 0 } = known;
    const loss = `${service}:${sequence}`;
    if (sequence >= had || acceptedLosses.includes(loss)) return [];
    const file = storeFile(folder, service);
    return [
      {
        file,
        reason: `it ends with commit ${sequence}, and had ${had}: it is older than the rest, or ${file}-wal is missing or was cut`,
        remedy: `${putBack('both')} To do without these commits for good, start once with KEELSON_ACCEPT_LOST_COMMITS=${loss}.`,
      },
    ];
  });
};

/** @throws Error naming the file, why it is refused, and the remedy */
export const requireAcceptable = async (
  folder: DataFiles,
  examination: FolderExamination,
): Promise<void> => {
  const { faults, stores } = await examineFolder(folder, examination);
  closeExamined(stores);
  const [first] = faults;
  if (first === undefined) return;
  const { file, reason, remedy, cause } = first;
  throw new Error(`${file}: ${reason}. ${remedy}`, { cause });
};
