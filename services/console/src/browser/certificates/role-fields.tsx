/** The form of a role: every rule with its effect, next to a preview of what a request would get. */
import { useState } from 'react';
import { type Fields, fieldsOf } from '../components/action-button.tsx';
import { FieldSet, Input, Label, Pair } from '../components/fields.tsx';
import { Lifetime } from '../components/lifetime.tsx';
import { Select } from '../components/select.tsx';
import { Small } from '../components/text.tsx';
import { Choice } from '../editing/choice.tsx';
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

const KEY_TYPES = [
  ['ec', 'EC'],
  ['rsa', 'RSA'],
  ['ed25519', 'Ed25519'],
  ['any', 'any (only for requests with a key of their own)'],
] as const;

type Flag = (typeof NAME_RULES | typeof USES | typeof KEEPING)[number][0];

type Choices = readonly (readonly [Flag, string, string])[];

type RoleValues = Readonly<Record<Flag, boolean>> & {
  /** Separated by commas. */
  readonly allowed_domains: string;
  readonly ttl: string;
  readonly max_ttl: string;
  readonly key_type: string;
  readonly issuer_ref: string;
};

/** Defaults for a new role: narrower than the engine's own. */
export const NEW_ROLE: RoleValues = {
  allowed_domains: '',
  ttl: '',
  max_ttl: '720h',
  key_type: 'ec',
  issuer_ref: 'default',
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

const ALL_FLAGS: Choices = [...NAME_RULES, ...USES, ...KEEPING];

/** The body that creates a role. */
export const newRoleBody = (fields: Fields): object => ({
  allowed_domains: fields.text('allowed_domains'),
  ...flagsIn(ALL_FLAGS, fields),
  key_type: fields.text('key_type'),
  issuer_ref: fields.text('issuer_ref'),
  ttl: fields.text('ttl') || '0',
  max_ttl: fields.text('max_ttl'),
});

/** A lifetime of a role; 0 means that the authority's own applies. */
const lifetimeOf = (value: string): string => (/^0s?$/.test(value) ? '' : value);

/** A role as the form shows it. */
export const roleValues = (role: Role): RoleValues => ({
  ...(Object.fromEntries(ALL_FLAGS.map(([flag]) => [flag, role[flag]])) as Record<Flag, boolean>),
  allowed_domains: role.allowed_domains.join(','),
  ttl: lifetimeOf(role.ttl),
  max_ttl: lifetimeOf(role.max_ttl) || '0',
  key_type: role.key_type,
  issuer_ref: role.issuer_ref,
});

/** The body of a role's POST, which replaces the whole role: what has not changed is sent along as it was read. */
export const changedRole = (changed: Partial<RoleValues>, newest: Role): object => ({
  ...newest,
  ...changed,
  // The size belongs to the type; 0 is the usual one.
  ...(changed.key_type !== undefined && { key_bits: 0 }),
  ...(changed.ttl === '' && { ttl: '0' }),
});

const domainsIn = (text: string): readonly string[] =>
  text
    .split(',')
    .map((domain) => domain.trim())
    .filter((domain) => domain !== '');

/** The rules that decide about a request, as the form shows them. */
const rulesIn = (fields: Fields): RequestRules => ({
  ...(flagsIn(NAME_RULES, fields) as Pick<Role, (typeof NAME_RULES)[number][0]>),
  allowed_domains: domainsIn(fields.text('allowed_domains')),
  ttl: fields.text('ttl'),
  max_ttl: fields.text('max_ttl'),
});

const Choices = (props: { title: string; choices: Choices; role: RoleValues }) => (
  <FieldSet isExplained>
    <legend>{props.title}</legend>
    {props.choices.map(([flag, words, effect]) => (
      <Choice key={flag} name={flag} isTicked={props.role[flag]}>
        {words} <Small>{effect}</Small>
      </Choice>
    ))}
  </FieldSet>
);

const RoleInputs = ({ role, keyBits }: { role: RoleValues; keyBits: number }) => (
  <>
    <Label>
      Domains, separated by commas
      <Input
        name="allowed_domains"
        autoComplete="off"
        placeholder="example.com"
        defaultValue={role.allowed_domains}
      />
    </Label>
    <Choices title="Names that are certified" choices={NAME_RULES} role={role} />
    <Choices title="For" choices={USES} role={role} />
    <Pair>
      <Lifetime
        name="ttl"
        value={role.ttl}
        label="Valid for, when a request does not say (empty: as the authority says)"
      />
      <Lifetime
        name="max_ttl"
        required
        value={role.max_ttl}
        label="Valid for at most (0: as long as the authority allows)"
      />
    </Pair>
    <Pair>
      <Label>
        Key of the certificates
        <Select
          name="key_type"
          value={role.key_type}
          options={KEY_TYPES.map(([type, words]) => [
            type,
            type === role.key_type && keyBits > 0 ? `${words}, ${keyBits} bits` : words,
          ])}
        />
      </Label>
      <Label>
        Issuer: its name or id, or “default”
        <Input name="issuer_ref" required autoComplete="off" defaultValue={role.issuer_ref} />
      </Label>
    </Pair>
    <Choices title="Certificates" choices={KEEPING} role={role} />
  </>
);

/** The fields of a role, next to a preview of their effect on a request. */
export const RoleFields = ({ role, keyBits = 0 }: { role: RoleValues; keyBits?: number }) => {
  const [rules, setRules] = useState<RequestRules>({
    ...role,
    allowed_domains: domainsIn(role.allowed_domains),
  });
  return (
    <div
      onChange={(event) => {
        const form = event.currentTarget.closest('form');
        if (form !== null) setRules(rulesIn(fieldsOf(form)));
      }}
    >
      <RoleInputs role={role} keyBits={keyBits} />
      <RolePreview rules={rules} />
    </div>
  );
};
