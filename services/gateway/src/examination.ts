/** Parts of the gateway that the doctor examines, whether or not one is running. */
export { type ExaminedDevice, examineAuditDevice } from './audit/audit-sink.ts';
export { periodOf, toExpiryFault } from './tls/certificate-expiry.ts';
export { examineCertificateFiles } from './tls/certificate-files.ts';
