/** A certificate that has just been issued, with the files that are handed out once. */
import { bytesOfBase64 } from '../api/base64.ts';
import { Callout } from '../components/callout.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Details, Summary } from '../components/details.tsx';
import { FormActions } from '../components/fields.tsx';
import { Pem } from '../components/pem.tsx';
import { Code } from '../components/text.tsx';
import { Download } from './download.tsx';

export interface Issued {
  readonly data: {
    /** PEM, or base64 of DER or of a PKCS #12 store. */
    readonly certificate: string;
    readonly ca_chain?: readonly string[];
    readonly private_key?: string;
    readonly serial_number: string;
  };
}

/** Formats in which a certificate is returned. */
export const FORMATS = {
  pem: 'PEM: text files',
  der: 'DER: binary files',
  pkcs12: 'PKCS #12: one file with a password, key and chain included',
  pkcs12_legacy: 'PKCS #12 for old programs: Triple DES and SHA-1',
} as const;

export type Format = keyof typeof FORMATS;

/** Whether a format is one file under a password, which holds the key, too. */
export const isKeyStore = (format: Format) => format === 'pkcs12' || format === 'pkcs12_legacy';

const DownloadFiles = (props: { issued: Issued['data']; name: string; format: Format }) => {
  const { issued, name, format } = props;
  const { certificate, private_key: key, ca_chain: chain = [] } = issued;
  if (isKeyStore(format))
    return (
      <Download
        name={`${name}.p12`}
        content={bytesOfBase64(certificate)}
        type="application/x-pkcs12"
        label="key store"
      />
    );
  if (format === 'der')
    return (
      <>
        <Download
          name={`${name}.cer`}
          content={bytesOfBase64(certificate)}
          type="application/pkix-cert"
          label="certificate"
        />
        {key !== undefined && (
          <Download
            name={`${name}-key.der`}
            content={bytesOfBase64(key)}
            type="application/octet-stream"
            label="key"
          />
        )}
      </>
    );
  const whole = [certificate, ...chain].join('\n');
  return (
    <>
      <Download name={`${name}.pem`} content={`${whole}\n`} label="certificate and chain" />
      <CopyButton text={whole} label="Copy certificate and chain" />
      {key !== undefined && (
        <>
          <Download name={`${name}-key.pem`} content={`${key}\n`} label="key" />
          <CopyButton text={key} label="Copy the private key" />
        </>
      )}
    </>
  );
};

/** Its key is stored nowhere else, so leaving the page loses it. */
export const IssuedCertificate = (props: {
  issued: Issued['data'];
  name: string;
  format: Format;
}) => {
  const { issued, format } = props;
  const hasKey = issued.private_key !== undefined || isKeyStore(format);
  return (
    <Callout role="status" aria-label="Issued">
      <p>
        Issued with the serial number <Code>{issued.serial_number}</Code>.
        {hasKey &&
          ' The private key is handed out now and never again: the authority does not keep it.'}
      </p>
      <FormActions>
        <DownloadFiles {...props} />
      </FormActions>
      {format === 'pem' && (
        <Details>
          <Summary>Certificate</Summary>
          <Pem>{issued.certificate}</Pem>
        </Details>
      )}
      {format === 'pem' && issued.private_key !== undefined && (
        <Details>
          <Summary>Private key</Summary>
          <Pem>{issued.private_key}</Pem>
        </Details>
      )}
    </Callout>
  );
};
