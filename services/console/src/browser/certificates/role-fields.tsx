/** The form of a role: every rule with its effect, next to a preview of what a request would get. */
import { type ReactNode, useState } from 'react';
import { type Fields, fieldsOf } from '../components/action-button.tsx';
import { DURATION, DURATION_WORDS } from '../components/duration.ts';
import type { RequestRules, Role } from './role.ts';
import { RolePreview } from './role-preview.tsx';

/** Rules that are on or off, by their parameter: words, and what a request gets by them. */
const NAME_RULES = [
  ['allow_bare_domains', 'the domains themselves', 'example.com, when it is a domain above'],
  ['allow_subdomains', 'names below them', 'www.example.com and a.b.example.com'],
  ['allow_glob_domains', 'patterns', 'a * in a domain above stands for any text'],
  ['allow_wildcard_certificates', 'wildcards', '*.example.com, where its domain is allowed'],
  ['allow_localhost', 'localhost', 'for programs that talk to themselves'],
  ['allow_ip_sans', 'IP addresses', 'any address, as the domains do not limit them'],
  ['allow_any_name', 'any name', 'whatever is asked for: the rules above decide nothing'],
] as const;

const USES = [
  ['server_flag', 'servers', 'a TLS server shows it to its clients'],
  ['client_flag', 'clients', 'a TLS client shows it to servers'],
  ['code_signing_flag', 'signing code', 'programs that check it run what it has signed'],
  ['email_protection_flag', 'mail', 'S/MIME: signed and encrypted mail'],
] as const;

const KEEPING = [
  ['require_cn', 'a common name is required', 'a request without one is refused'],
  ['no_store', 'no copy is kept', 'it can neither be listed nor revoked by its serial number'],
  ['generate_lease', 'under a lease', 'it is revoked when the lease ends'],
] as const;

type Flag = (typeof NAME_RULES | typeof USES | typeof KEEPING)[number][0];

type Choices = readonly (readonly [Flag, string, string])[];

/** Defaults for a new role: narrower than the engine's own. */
const NEW_ROLE: Pick<Role, Flag> = {
  allow_any_name: false,
  allow_glob_domains: false,
  allow_localhost: true,
  allow_bare_domains: false,
  allow_subdomains: true,
  allow_wildcard_certificates: false,
  allow_ip_sans: false,
  server_flag: true,
  client_flag: true,
  code_signing_flag: false,
  email_protection_flag: false,
  require_cn: true,
  no_store: false,
  generate_lease: false,
};

const flagsIn = (choices: Choices, { isChecked }: Pick<Fields, 'isChecked'>): object =>
  Object.fromEntries(choices.map(([flag]) => [flag, isChecked(flag)]));

/**
 * The body of a role's POST.
 * @param role the role being edited
 */
export const roleBody = (fields: Fields, role?: Role): object => ({
  // The engine's POST replaces the whole role, so members that the form lacks are sent along.
  ...role,
  // The size belongs to the type; 0 is the usual one.
  ...(role !== undefined && role.key_type !== fields.text('key') && { key_bits: 0 }),
  allowed_domains: fields.text('domains'),
  ...flagsIn([...NAME_RULES, ...USES, ...KEEPING], fields),
  key_type: fields.text('key'),
  issuer_ref: fields.text('issuer'),
  ttl: fields.text('ttl') || '0',
  max_ttl: fields.text('max'),
});

/** The rules that decide about a request, as the form shows them. */
const rulesIn = (fields: Fields): RequestRules => ({
  ...(flagsIn(NAME_RULES, fields) as Pick<Role, (typeof NAME_RULES)[number][0]>),
  allowed_domains: fields
    .text('domains')
    .split(',')
    .map((domain) => domain.trim())
    .filter((domain) => domain !== ''),
  ttl: fields.text('ttl'),
  max_ttl: fields.text('max'),
});

const Choices = (props: { title: string; choices: Choices; role: Pick<Role, Flag> }) => (
  <fieldset className="explained">
    <legend>{props.title}</legend>
    {props.choices.map(([flag, words, effect]) => (
      <label className="choice" key={flag}>
        <input type="checkbox" name={flag} defaultChecked={props.role[flag]} /> {words}{' '}
        <small>{effect}</small>
      </label>
    ))}
  </fieldset>
);

const Lifetime = (props: { name: string; value: string; required?: boolean; label: ReactNode }) => (
  <label>
    {props.label}
    <input
      name={props.name}
      required={props.required ?? false}
      autoComplete="off"
      defaultValue={props.value}
      pattern={DURATION}
      title={DURATION_WORDS}
    />
  </label>
);

/** A lifetime of a role; 0 means that the authority's own applies. */
const lifetimeOf = (value: string | undefined): string =>
  value === undefined || /^0s?$/.test(value) ? '' : value;

const RoleInputs = ({ role }: { role?: Role }) => (
  <>
    <label>
      Domains, separated by commas
      <input
        name="domains"
        autoComplete="off"
        placeholder="example.com"
        defaultValue={role?.allowed_domains.join(',')}
      />
    </label>
    <Choices title="Names that are certified" choices={NAME_RULES} role={role ?? NEW_ROLE} />
    <Choices title="For" choices={USES} role={role ?? NEW_ROLE} />
    <div className="pair">
      <Lifetime
        name="ttl"
        value={lifetimeOf(role?.ttl)}
        label="Valid for, when a request does not say (empty: as the authority says)"
      />
      <Lifetime
        name="max"
        required
        value={role === undefined ? '720h' : lifetimeOf(role.max_ttl) || '0'}
        label="Valid for at most (0: as long as the authority allows)"
      />
    </div>
    <div className="pair">
      <label>
        Key of the certificates
        <select name="key" defaultValue={role?.key_type ?? 'ec'}>
          <option value="ec">EC (P-256)</option>
          <option value="rsa">RSA</option>
          <option value="ed25519">Ed25519</option>
          <option value="any">any (only for requests with a key of their own)</option>
        </select>
      </label>
      <label>
        Issuer: its name or id, or “default”
        <input
          name="issuer"
          required
          autoComplete="off"
          defaultValue={role?.issuer_ref ?? 'default'}
        />
      </label>
    </div>
    <Choices title="Certificates" choices={KEEPING} role={role ?? NEW_ROLE} />
  </>
);

/** The fields of a role, next to a preview of their effect on a request. */
export const RoleFields = ({ role }: { role?: Role }) => {
  const [rules, setRules] = useState<RequestRules>(
    role ?? { ...NEW_ROLE, allowed_domains: [], ttl: '', max_ttl: '720h' },
  );
  return (
    <div
      onChange={(event) => {
        const form = event.currentTarget.closest('form');
        if (form !== null) setRules(rulesIn(fieldsOf(form)));
      }}
    >
      <RoleInputs {...(role && { role })} />
      <RolePreview rules={rules} />
    </div>
  );
};
