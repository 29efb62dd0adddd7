/**
 * Looks at the data folder of a cluster before anything in it is opened for writing, so that a start that is
 * refused leaves every file as it was. The doctor reports the same faults.
 */
import { KeelsonError } from '@keelson/errors';
import { type ExaminedStore, examineSqliteStore } from '@keelson/storage';
import { examineCluster } from '@keelson/sys-service/examination';
import {
  type DataFiles,
  putBack,
  STORE_SERVICES,
  type StoreService,
  storeFile,
} from './first-start.ts';
import { originOf } from './store-origin.ts';

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
}

type Examined = Partial<Record<StoreService, ExaminedStore>>;

/** The caller closes the stores (`closeExamined`). */
export const examineFolder = async (
  folder: DataFiles,
  { keyFile, isInUse = false }: FolderExamination,
): Promise<ExaminedFolder> => {
  const stores: Examined = {};
  const faults: FolderFault[] = [];
  for (const service of STORE_SERVICES) {
    const file = storeFile(folder, service);
    try {
      stores[service] = examineSqliteStore(file, { isInUse });
    } catch (cause) {
      const reason = KeelsonError.from(cause).message;
      faults.push({ file, reason, remedy: putBack('the file'), cause });
    }
  }
  if (stores.sys !== undefined)
    faults.push(...(await faultsOfCluster(folder, stores.sys, stores, keyFile)));
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
  const id = await originOf(sys);
  for (const [service, store] of Object.entries(stores))
    if ((await originOf(store)) !== id)
      faults.push({
        file: storeFile(folder, service as StoreService),
        reason: `it does not belong to ${file}: it is empty, or of another cluster`,
        remedy: putBack('the one that was here'),
      });
  if (!facts.isKeyAccepted) {
    const cause = new KeelsonError('sys.wrong_unseal_key');
    faults.push({ file: keyFile, reason: cause.message, remedy: putBack('the key'), cause });
  }
  return faults;
};

/** @throws Error naming the file, why it is refused, and the remedy */
export const requireAcceptable = async (folder: DataFiles, keyFile: string): Promise<void> => {
  const { faults, stores } = await examineFolder(folder, { keyFile });
  closeExamined(stores);
  const [first] = faults;
  if (first === undefined) return;
  const { file, reason, remedy, cause } = first;
  throw new Error(`${file}: ${reason}. ${remedy}`, { cause });
};
