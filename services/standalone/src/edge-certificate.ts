import { systemClock } from '@keelson/clock';
import {
  type CertificateSource,
  openCertificateFiles,
  openSelfIssuedCertificate,
} from '@keelson/gateway-service';
import type { Logger } from '@keelson/logging';
import type { DataFolder } from './data-folder.ts';
import { tlsFolder } from './first-start.ts';

export interface EdgeCertificateSettings {
  readonly tlsCertificateFile?: string;
  readonly tlsKeyFile?: string;
  readonly tlsNames: readonly string[];
}

export interface EdgeCertificate {
  readonly source: CertificateSource;
  /** PEM file of the CA that clients must trust; undefined if the operator provided the certificate. */
  readonly authorityFile: string | undefined;
}

/** Opens the configured certificate, or one that Keelson issues to itself in `tls/` of the data folder. */
export const openEdgeCertificate = async (
  { tlsCertificateFile, tlsKeyFile, tlsNames }: EdgeCertificateSettings,
  folder: DataFolder,
  logger: Logger,
): Promise<EdgeCertificate> => {
  if (tlsCertificateFile !== undefined && tlsKeyFile !== undefined) {
    const source = await openCertificateFiles({
      certificateFile: tlsCertificateFile,
      keyFile: tlsKeyFile,
      report: (error) => logger.error({ err: error }, 'HTTPS certificate files cannot be used'),
    });
    return { source, authorityFile: undefined };
  }
  const source = await openSelfIssuedCertificate({
    folder: tlsFolder(folder),
    names: tlsNames,
    clock: systemClock,
  });
  return { source, authorityFile: source.authorityFile };
};
