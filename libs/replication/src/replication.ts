/** The only entry of the package. */
export {
  deriveLinkKey,
  generateLinkKeyPair,
  type LinkKeyPair,
  linkKeyPairShape,
} from './cipher/link-key.ts';
export { openMessage, sealMessage } from './cipher/sealed-message.ts';
export type { ConnectionState } from './domain/connection-state.ts';
export { REPLICATION_KINDS, type ReplicationKind } from './domain/crossing.ts';
export {
  type DynamicFilter,
  type FilterablePath,
  type FilterMode,
  type PathsFilter,
  parsePathsFilter,
  passesFilter,
  toDynamicFilter,
} from './domain/paths-filter.ts';
export {
  mountGroup,
  NO_GROUPS,
  namespaceGroup,
  parseGroup,
  type RecordArea,
  type RecordGroups,
  recordGroups,
  WORKSPACE_GROUP,
} from './domain/record-groups.ts';
export type { BackOff, SecondaryState } from './domain/secondary-state.ts';
export { requireNoNewerPrimary } from './domain/software-version.ts';
export {
  NEVER_CHECKED,
  NEVER_REINDEXED,
  type PeerDocument,
  type PeerFacts,
  toEpochText,
  toPeerDocument,
  toTimestamp,
} from './domain/status-document.ts';
export type {
  EpochKey,
  FilterVerdict,
  Membership,
  SetIdentity,
} from './membership/membership.ts';
export type { AdmittedSecondary, StoredFilter } from './membership/membership-records.ts';
export { type FilterCatalog, StoredMembership } from './membership/stored-membership.ts';
export { findCanary, runCanary, writeCanary } from './primary/canary.ts';
export { declaredAreas } from './primary/declared-areas.ts';
export { FilterViews } from './primary/filter-views.ts';
export { FilteredPublishers } from './primary/filtered-publishers.ts';
export { writeLogEnd } from './primary/log-end.ts';
export type { LogPosition } from './primary/previous-logs.ts';
export { type KeyringHandover, Primary, type PrimaryOptions } from './primary/primary.ts';
export { type PublicationFault, PublicationFaults } from './primary/publication-faults.ts';
export type { SecondaryFacts } from './primary/secondary-heartbeats.ts';
export { loadStreamEnd } from './primary/stream-position.ts';
export { WalPublisher, type WalPublisherOptions } from './primary/wal-publisher.ts';
export {
  type AdoptedKeyring,
  finishActivation,
  isActivated,
  removeReplicated,
} from './secondary/activation.ts';
export type { Difference, SecondaryStatus } from './secondary/follower-records.ts';
export { KnownPromotion } from './secondary/known-promotion.ts';
export type { SecondaryIdentity } from './secondary/primary-link.ts';
export { PrimaryLink } from './secondary/primary-link.ts';
export { Secondary, type SecondaryOptions } from './secondary/secondary.ts';
export type { UnreplicatedEntries } from './secondary/unreplicated-entries.ts';
export { filteredStreamOf, streamOf } from './wire/names.ts';
export { type ClosedScopes, guardWrites, WriteGate } from './write-gate.ts';
