export {
  AcmeRefusal,
  type AcmeReply,
  AcmeSession,
  type AcmeSessionOptions,
} from './acme-session.ts';
export { bareEnvironment } from './bare-environment.ts';
export { type LinkedCall, type LinkedServer, startLinkedServer } from './bitbucket-server-stub.ts';
export { bundledProcess, runSources } from './bundled-processes/bundled-process.ts';
export { type CertificateFiles, writeCertificates } from './certificate-files.ts';
export { type DnsOptions, type DnsRecordType, type DnsServer, startDns } from './dns.ts';
export { documentedCommands, documentedJson } from './documented-commands.ts';
export { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
export { findBinary } from './find-binary.ts';
export { findFreePort } from './free-port.ts';
export { findGoModule } from './go-module.ts';
export {
  buildGoProgram,
  buildGoTests,
  buildGoTool,
  buildTaggedGoProgram,
  goEnvironment,
} from './go-tool.ts';
export { type KeelsonOptions, type KeelsonProcess, startKeelson } from './keelson-process.ts';
export { awaitAnswer, awaitLogText, type LiveAnswer, type LiveSite } from './live-answers.ts';
export { type MailServer, startMailServer } from './mail-server.ts';
export { type NatsOptions, type NatsServer, startNats } from './nats.ts';
export { countPasswordHashes } from './password-hashes.ts';
export { type PostgresOptions, type PostgresServer, startPostgres } from './postgres.ts';
export {
  cutPower,
  type PowerCut,
  type RecordedDisk,
  type RecordedEnd,
  recordedEnvironment,
} from './power-cut/recorded-disk.ts';
export { propertySettings } from './property-settings.ts';
export { publicAddress } from './public-address.ts';
export { installPythonPackages } from './python-packages.ts';
export { type RedisOptions, type RedisServer, startRedis } from './redis.ts';
export { type ApiCall, type RepositoryServer, startRepositoryServer } from './repository-server.ts';
export { type S3Access, type S3Server, startS3 } from './s3-server.ts';
export { ServerProcess } from './server-process.ts';
export { shiftedClock } from './shifted-clock.ts';
export { type SshServer, startSshServer } from './ssh-server.ts';
export { stubService } from './stub-service.ts';
export {
  diskDirectory,
  type TemporaryDirectory,
  temporaryDirectory,
} from './temporary-directory.ts';
export {
  findBroken,
  type LedgerCheck,
  type LedgerMark,
  type RootOf,
  WriteLedger,
} from './write-ledger.ts';
