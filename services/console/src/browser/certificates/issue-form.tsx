/** Issues a certificate with a new key, or signs a given certificate request. */
import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { Button } from '../components/button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { Details, Summary } from '../components/details.tsx';
import { DURATION, DURATION_WORDS } from '../components/duration.ts';
import { Input, Label, Pair, SelectField, TextArea } from '../components/fields.tsx';
import { focusOnceVisible } from '../components/focus-once-visible.ts';
import { Problem } from '../components/page.tsx';
import { Hint } from '../components/text.tsx';
import {
  FORMATS,
  type Format,
  type Issued,
  IssuedCertificate,
  isKeyStore,
} from './issued-certificate.tsx';
import { isAddress } from './role.ts';

/** Names of further kinds, by the parameter of each. */
type OtherNames = Readonly<Record<string, string>>;

const OTHER_NAMES = [
  ['alt_names', 'DNS names and mail addresses'],
  ['ip_sans', 'IP addresses'],
  ['uri_sans', 'URIs'],
  ['other_sans', 'Other names, as OID;UTF8:text'],
] as const;

/** An address is an alternative name: it is no host name, which a common name has to be. */
const namesOf = (given: string, others: OtherNames): Readonly<Record<string, string>> => {
  const name = given.trim();
  const addresses = [isAddress(name) ? name : '', others['ip_sans'] ?? '']
    .map((text) => text.trim())
    .filter((text) => text !== '');
  const entries = OTHER_NAMES.map(([parameter]) => [parameter, others[parameter]?.trim() ?? '']);
  return {
    ...(!isAddress(name) && { common_name: name }),
    ...Object.fromEntries(entries.filter(([, text]) => text !== '')),
    ...(addresses.length > 0 && { ip_sans: addresses.join(',') }),
  };
};

const OtherNameFields = (props: { values: OtherNames; onChange: (values: OtherNames) => void }) => (
  <Details hasFields>
    <Summary>Further names</Summary>
    <Hint>Several of a kind are separated by commas.</Hint>
    <Pair>
      {OTHER_NAMES.map(([parameter, label]) => (
        <Label key={parameter}>
          {label}
          <Input
            autoComplete="off"
            value={props.values[parameter] ?? ''}
            onChange={({ target }) =>
              props.onChange({ ...props.values, [parameter]: target.value })
            }
          />
        </Label>
      ))}
    </Pair>
  </Details>
);

export const IssueForm = (props: {
  mount: string;
  role: string;
  /** Whether its first field takes the focus. */
  isFocused?: boolean;
}) => {
  const { mount, role, isFocused = false } = props;
  const [name, setName] = useState('');
  const [others, setOthers] = useState<OtherNames>({});
  const [ttl, setTtl] = useState('24h');
  const [csr, setCsr] = useState('');
  const [format, setFormat] = useState<Format>('pem');
  const [password, setPassword] = useState('');
  // Stored with the requested format, because the selection may have changed since.
  const [issued, setIssued] = useState<{ data: Issued['data']; name: string; format: Format }>();
  const path = `${mount}/${csr.trim() === '' ? 'issue' : 'sign'}/${encodeURIComponent(role)}`;
  const body = {
    ...namesOf(name, others),
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
      <Pair>
        <Label>
          Name of the certificate
          <Input
            required
            ref={isFocused ? focusOnceVisible : undefined}
            autoComplete="off"
            placeholder="www.example.com"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </Label>
        <Label>
          Valid for
          <Input
            required
            autoComplete="off"
            value={ttl}
            pattern={DURATION}
            title={DURATION_WORDS}
            onChange={({ target }) => setTtl(target.value)}
          />
        </Label>
      </Pair>
      <OtherNameFields values={others} onChange={setOthers} />
      <Label>
        Certificate request in PEM (empty: a key is made)
        <TextArea isCode rows={3} value={csr} onChange={({ target }) => setCsr(target.value)} />
      </Label>
      <Pair>
        <Label>
          Form
          <SelectField value={format} onChange={({ target }) => setFormat(target.value as Format)}>
            {Object.entries(FORMATS).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </SelectField>
        </Label>
        {isKeyStore(format) && (
          <Label>
            Password of the key store
            <Input
              type="password"
              required
              minLength={6}
              maxLength={128}
              autoComplete="new-password"
              value={password}
              onChange={({ target }) => setPassword(target.value)}
            />
          </Label>
        )}
      </Pair>
      <Button type="submit" look="primary" disabled={issuing.isPending}>
        {csr.trim() === '' ? 'Issue the certificate' : 'Sign the request'}
      </Button>
      <Commands
        title={`Issue by ${role}`}
        commands={[
          secretsCurl('POST', path, redactedBody),
          vaultCommand(`vault write ${path} common_name=${name.trim() || '…'} ttl=${ttl}`),
        ]}
      />
      {issued && (
        <IssuedCertificate issued={issued.data} name={issued.name} format={issued.format} />
      )}
    </form>
  );
};
