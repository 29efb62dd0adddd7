import { KeelsonError } from '@keelson/errors';
import { encodePem, toTraditionalKey } from '@keelson/x509';

const PRIVATE_KEY_FORMATS = ['', 'der', 'pem', 'pkcs8'];

/** @throws KeelsonError `request.invalid` */
export const requirePrivateKeyFormat = (text: string): string => {
  if (!PRIVATE_KEY_FORMATS.includes(text))
    throw new KeelsonError('request.invalid', {
      text: 'the "private_key_format" parameter must be "der", "pem", or "pkcs8"',
    });
  return text;
};

/**
 * A private key as `private_key`: in the traditional form of its type unless PKCS#8 is asked for.
 * @param format of the certificate or request that it is shown with: base64 for `der`, else PEM
 */
export const privateKeyText = (
  privateKeyDer: Uint8Array,
  format: string,
  privateKeyFormat: string,
): string => {
  const { pemLabel, der } =
    privateKeyFormat === 'pkcs8'
      ? { pemLabel: 'PRIVATE KEY', der: privateKeyDer }
      : toTraditionalKey(privateKeyDer);
  return format === 'der' ? Buffer.from(der).toString('base64') : encodePem(pemLabel, der);
};
