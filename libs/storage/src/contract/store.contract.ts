/** Guarantees of every backend of the store; each backend has a `….contract.test.ts` that registers it. */
import { registerCollectionContract } from './collection.contract.ts';
import { registerCopiesContract } from './copies.contract.ts';
import { registerLaterIndexContract } from './later-index.contract.ts';
import { registerListingContract } from './listing.contract.ts';
import { registerMerkleContract } from './merkle.contract.ts';
import { registerMovedKindContract } from './moved-kind.contract.ts';
import { registerOwnedRecordsContract } from './owned-records.contract.ts';
import { registerOwnerIndexContract } from './owner-index.contract.ts';
import { registerProjectionContract } from './projection.contract.ts';
import { registerRecordContract } from './record.contract.ts';
import { registerRecordedReadsContract } from './recorded-reads.contract.ts';
import { StoreContext, type StoreLocation } from './store-context.ts';
import { registerTextSearchContract } from './text-search.contract.ts';
import { registerTransactionContract } from './transaction.contract.ts';
import { registerUpgradeContract } from './upgrade.contract.ts';
import { registerWalContract } from './wal.contract.ts';

export const registerStoreContract = (createPlace: () => Promise<StoreLocation>): void => {
  const context = new StoreContext(createPlace);
  registerRecordContract(context);
  registerCollectionContract(context);
  registerOwnerIndexContract(context);
  registerOwnedRecordsContract(context);
  registerListingContract(context);
  registerRecordedReadsContract(context);
  registerTransactionContract(context);
  registerWalContract(context);
  registerProjectionContract(context);
  registerTextSearchContract(context);
  registerMerkleContract(context);
  registerCopiesContract(context);
  registerUpgradeContract(createPlace);
  registerLaterIndexContract(createPlace);
  registerMovedKindContract(createPlace);
};
