/** The rules, roles and issuers by which ACME clients get certificates, and how their challenges are looked up. */
import { useCapabilities, useSecretList } from '../api/queries.ts';
import { vaultCommand } from '../components/commands.tsx';
import { Details, Summary } from '../components/details.tsx';
import { durationText } from '../components/duration.ts';
import { FactList } from '../components/fact-list.tsx';
import { Input, Label, Pair, TextArea } from '../components/fields.tsx';
import { formatSeconds } from '../components/format.ts';
import { Lifetime } from '../components/lifetime.tsx';
import { Select } from '../components/select.tsx';
import { Choice } from '../editing/choice.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { secretTarget } from '../editing/edit-target.ts';
import { linesOf } from './address-lists.tsx';

/** The rules; whether ACME is on and when accounts need keys are changed by other buttons. */
export interface AcmeRules {
  readonly default_directory_policy: string;
  readonly allowed_roles: readonly string[];
  readonly allowed_issuers: readonly string[];
  readonly allow_role_ext_key_usage: boolean;
  readonly dns_resolver: string;
  readonly max_ttl: number;
  readonly challenge_permitted_ip_ranges: readonly string[];
  readonly challenge_excluded_ip_ranges: readonly string[];
}

const LISTS = [
  ['allowed_roles', 'Roles that an address may name, one on each line (*: all)'],
  ['allowed_issuers', 'Issuers that an address may name, one on each line (*: all)'],
  ['challenge_permitted_ip_ranges', 'Challenges connect to these ranges alone (empty: to all)'],
  ['challenge_excluded_ip_ranges', 'Challenges never connect to these ranges'],
] as const;

const valuesOf = (rules: AcmeRules) => ({
  default_directory_policy: rules.default_directory_policy,
  allowed_roles: rules.allowed_roles.join('\n'),
  allowed_issuers: rules.allowed_issuers.join('\n'),
  allow_role_ext_key_usage: rules.allow_role_ext_key_usage,
  dns_resolver: rules.dns_resolver,
  max_ttl: durationText(rules.max_ttl),
  challenge_permitted_ip_ranges: rules.challenge_permitted_ip_ranges.join('\n'),
  challenge_excluded_ip_ranges: rules.challenge_excluded_ip_ranges.join('\n'),
});

type Values = ReturnType<typeof valuesOf>;

const changedRules = (changed: Partial<Values>): object =>
  Object.fromEntries(
    Object.entries(changed).map(([name, value]) => [
      name,
      LISTS.some(([list]) => list === name) ? linesOf(String(value)) : value,
    ]),
  );

/** Words of the rule for an address that names no role. */
const POLICIES: Readonly<Record<string, string>> = {
  'sign-verbatim': 'whatever name a client proves to hold',
  forbid: 'nothing: the address of a role is needed',
  'external-policy': 'as the external policy decides',
};

const policyWords = (policy: string): string =>
  POLICIES[policy] ?? policy.replace(/^role:/, 'by the role ');

const RuleFields = ({ mount, values }: { mount: string; values: Values }) => {
  const { data } = useSecretList(`${mount}/roles`);
  const roles = data?.keys ?? [];
  const list = ([name, words]: (typeof LISTS)[number]) => (
    <Label key={name}>
      {words}
      <TextArea name={name} isCode rows={2} defaultValue={values[name]} />
    </Label>
  );
  return (
    <>
      <Label>
        At the address without a role, certificates are issued for
        <Select
          name="default_directory_policy"
          value={values.default_directory_policy}
          options={[
            ...Object.entries(POLICIES),
            ...roles.map((role) => [`role:${role}`, `by the role ${role}`] as const),
          ]}
        />
      </Label>
      {LISTS.slice(0, 2).map(list)}
      <Pair>
        <Lifetime name="max_ttl" required label="Valid for at most" value={values.max_ttl} />
        <Label>
          DNS resolver, with its port (empty: that of the system)
          <Input name="dns_resolver" autoComplete="off" defaultValue={values.dns_resolver} />
        </Label>
      </Pair>
      <Choice name="allow_role_ext_key_usage" isTicked={values.allow_role_ext_key_usage}>
        For the uses of the role, and not for servers alone
      </Choice>
      <Details hasFields>
        <Summary>Networks</Summary>
        {LISTS.slice(2).map(list)}
      </Details>
    </>
  );
};

/** The rules as facts, and the button that changes them. */
export const AcmeRulesOf = ({ mount, rules }: { mount: string; rules: AcmeRules }) => {
  const path = `${mount}/config/acme`;
  const may = useCapabilities([path]);
  return (
    <>
      <FactList
        facts={[
          ['Without a role', policyWords(rules.default_directory_policy)],
          ['Roles in addresses', rules.allowed_roles.join(', ').replace(/^\*$/, 'all') || 'none'],
          [
            'Issuers in addresses',
            rules.allowed_issuers.join(', ').replace(/^\*$/, 'all') || 'none',
          ],
          ['Valid for at most', formatSeconds(rules.max_ttl)],
          ['For', rules.allow_role_ext_key_usage ? 'the uses of the role' : 'servers'],
        ]}
      />
      {may(path, 'update') && (
        <EditButton
          edits="acme-rules"
          label="Change what clients get"
          title="Certificates by ACME"
          target={secretTarget<AcmeRules>(path)}
          valuesOf={valuesOf}
          bodyOf={changedRules}
          fields={(values) => <RuleFields mount={mount} values={values} />}
          commands={() => [vaultCommand(`vault write ${path} default_directory_policy=role:NAME`)]}
        />
      )}
    </>
  );
};
