/** Issues a certificate with a new key, or signs a given certificate request. */
import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { bytesOfBase64 } from '../api/base64.ts';
import { useAction } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { DURATION, DURATION_WORDS } from '../components/duration.ts';
import { Problem } from '../components/page.tsx';
import { Download } from './download.tsx';

interface Issued {
  readonly data: {
    /** PEM, or base64 of DER or of a PKCS #12 store. */
    readonly certificate: string;
    readonly ca_chain?: readonly string[];
    readonly private_key?: string;
    readonly serial_number: string;
  };
}

/** Formats in which a certificate is returned. */
const FORMATS = {
  pem: 'PEM: text files',
  der: 'DER: binary files',
  pkcs12: 'PKCS #12: one file with a password, key and chain included',
  pkcs12_legacy: 'PKCS #12 for old programs: Triple DES and SHA-1',
} as const;

type Format = keyof typeof FORMATS;

/** Whether a format is one file under a password, which holds the key, too. */
const isKeyStore = (format: Format) => format === 'pkcs12' || format === 'pkcs12_legacy';

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

/** The issued certificate. Its key is stored nowhere else, so leaving the page loses it. */
const IssuedCertificate = (props: { issued: Issued['data']; name: string; format: Format }) => {
  const { issued, format } = props;
  const hasKey = issued.private_key !== undefined || isKeyStore(format);
  return (
    <section role="status" className="hindrance" aria-label="Issued">
      <p>
        Issued with the serial number <code>{issued.serial_number}</code>.
        {hasKey &&
          ' The private key is handed out now and never again: the authority does not keep it.'}
      </p>
      <div className="form-actions">
        <DownloadFiles {...props} />
      </div>
      {format === 'pem' && (
        <details>
          <summary>Certificate</summary>
          <pre className="pem">{issued.certificate}</pre>
        </details>
      )}
      {format === 'pem' && issued.private_key !== undefined && (
        <details>
          <summary>Private key</summary>
          <pre className="pem">{issued.private_key}</pre>
        </details>
      )}
    </section>
  );
};

export const IssueForm = ({ mount, role }: { mount: string; role: string }) => {
  const [name, setName] = useState('');
  const [others, setOthers] = useState('');
  const [ttl, setTtl] = useState('24h');
  const [csr, setCsr] = useState('');
  const [format, setFormat] = useState<Format>('pem');
  const [password, setPassword] = useState('');
  // Stored with the requested format, because the selection may have changed since.
  const [issued, setIssued] = useState<{ data: Issued['data']; name: string; format: Format }>();
  const path = `${mount}/${csr.trim() === '' ? 'issue' : 'sign'}/${encodeURIComponent(role)}`;
  const body = {
    common_name: name.trim(),
    ...(others.trim() !== '' && { alt_names: others.trim() }),
    ttl,
    ...(csr.trim() !== '' && { csr: csr.trim() }),
    ...(format !== 'pem' && { format }),
    ...(isKeyStore(format) && { password }),
  };
  const redactedBody = isKeyStore(format) ? { ...body, password: '…' } : body;
  const issuing = useAction(
    () => callSecrets<Issued>('POST', path, { body }),
    ({ data }) => setIssued({ data, name: name.trim() || 'certificate', format }),
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    issuing.run();
  };
  return (
    <form onSubmit={submit} aria-label={`Issue by ${role}`}>
      {issuing.error !== null && <Problem>{messageOf(issuing.error)}</Problem>}
      <div className="pair">
        <label>
          Name of the certificate
          <input
            required
            autoComplete="off"
            placeholder="www.example.com"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </label>
        <label>
          Further names, separated by commas
          <input
            autoComplete="off"
            value={others}
            onChange={({ target }) => setOthers(target.value)}
          />
        </label>
      </div>
      <label>
        Valid for
        <input
          required
          autoComplete="off"
          value={ttl}
          pattern={DURATION}
          title={DURATION_WORDS}
          onChange={({ target }) => setTtl(target.value)}
        />
      </label>
      <label>
        Certificate request in PEM (empty: a key is made)
        <textarea
          className="code"
          rows={3}
          value={csr}
          onChange={({ target }) => setCsr(target.value)}
        />
      </label>
      <div className="pair">
        <label>
          Form
          <select value={format} onChange={({ target }) => setFormat(target.value as Format)}>
            {Object.entries(FORMATS).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
        {isKeyStore(format) && (
          <label>
            Password of the key store
            <input
              type="password"
              required
              minLength={6}
              maxLength={128}
              autoComplete="new-password"
              value={password}
              onChange={({ target }) => setPassword(target.value)}
            />
          </label>
        )}
      </div>
      <button type="submit" className="primary" disabled={issuing.isPending}>
        {csr.trim() === '' ? 'Issue the certificate' : 'Sign the request'}
      </button>
      <Commands
        commands={[
          secretsCurl('POST', path, redactedBody),
          vaultCommand(`vault write ${path} common_name=${body.common_name || '…'} ttl=${ttl}`),
        ]}
      />
      {issued && (
        <IssuedCertificate issued={issued.data} name={issued.name} format={issued.format} />
      )}
    </form>
  );
};
