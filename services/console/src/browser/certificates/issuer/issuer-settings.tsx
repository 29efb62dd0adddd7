/** The uses and the name of an issuer, and how its certificates and lists are made. */
import { vaultCommand } from '../../components/commands.tsx';
import { Details, Summary } from '../../components/details.tsx';
import { FactList } from '../../components/fact-list.tsx';
import { FieldSet, FormActions, Input, Label, Pair, TextArea } from '../../components/fields.tsx';
import { Card } from '../../components/page.tsx';
import { Select } from '../../components/select.tsx';
import { Choice } from '../../editing/choice.tsx';
import { EditButton } from '../../editing/edit-button.tsx';
import { secretTarget } from '../../editing/edit-target.ts';
import { linesOf } from '../address-lists.tsx';
import { CHECKS, type Check, type Issuer, OUTLIVING } from './issuer.ts';

/** Uses that an issuer may have; reading it is always one of them. */
const USES = [
  ['issuing-certificates', 'issuing certificates'],
  ['crl-signing', 'signing revocation lists'],
  ['ocsp-signing', 'signing OCSP answers'],
] as const;

type Use = (typeof USES)[number][0];

const READING = 'read-only';

/** Signatures of revocation lists, by the type of key that makes them. */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  RSA: [
    'SHA256WithRSA',
    'SHA384WithRSA',
    'SHA512WithRSA',
    'SHA256WithRSAPSS',
    'SHA384WithRSAPSS',
    'SHA512WithRSAPSS',
  ],
  ECDSA: ['ECDSAWithSHA256', 'ECDSAWithSHA384', 'ECDSAWithSHA512'],
  Ed25519: ['Ed25519'],
};

const usesIn = (usage: string): readonly string[] => usage.split(',');

const flagsOf = <Name extends string>(
  names: readonly Name[],
  isTicked: (name: Name) => boolean,
): Readonly<Record<Name, boolean>> =>
  Object.fromEntries(names.map((name) => [name, isTicked(name)])) as Record<Name, boolean>;

const valuesOf = (issuer: Issuer) => ({
  issuer_name: issuer.issuer_name,
  leaf_not_after_behavior: issuer.leaf_not_after_behavior,
  revocation_signature_algorithm: issuer.revocation_signature_algorithm,
  manual_chain: (issuer.manual_chain ?? []).join('\n'),
  ...flagsOf(
    USES.map(([use]) => use),
    (use) => usesIn(issuer.usage).includes(use),
  ),
  ...flagsOf(
    CHECKS.map(([check]) => check),
    (check) => issuer[check],
  ),
});

type Values = ReturnType<typeof valuesOf>;

const isUse = (name: string): name is Use => USES.some(([use]) => use === name);

/** Uses are one list of the API: those that were not touched stay as they are stored. */
const changedSettings = (changed: Partial<Values>, newest: Issuer): object => {
  const { manual_chain: chain, ...others } = changed;
  const rest = Object.entries(others).filter(([name]) => !isUse(name));
  const touched = Object.entries(others).filter(([name]) => isUse(name));
  const kept = usesIn(newest.usage).filter((use) => !touched.some(([name]) => name === use));
  const ticked = touched.flatMap(([name, isTicked]) => (isTicked === true ? [name] : []));
  return {
    ...Object.fromEntries(rest),
    ...(chain !== undefined && { manual_chain: linesOf(chain) }),
    ...(touched.length > 0 && { usage: [...new Set([READING, ...kept, ...ticked])].join(',') }),
  };
};

const SettingsFields = ({ values, keyType }: { values: Values; keyType: string }) => (
  <>
    <Label>
      Name
      <Input
        name="issuer_name"
        autoComplete="off"
        pattern="[A-Za-z0-9_\-.]*"
        defaultValue={values.issuer_name}
      />
    </Label>
    <FieldSet>
      <legend>Used for</legend>
      {USES.map(([use, words]) => (
        <Choice key={use} name={use} isTicked={values[use]}>
          {words}
        </Choice>
      ))}
    </FieldSet>
    <Pair>
      <Label>
        Certificates that would outlive it
        <Select
          name="leaf_not_after_behavior"
          value={values.leaf_not_after_behavior}
          options={Object.entries(OUTLIVING)}
        />
      </Label>
      <Label>
        Signature of revocation lists
        <Select
          name="revocation_signature_algorithm"
          value={values.revocation_signature_algorithm}
          options={[
            ['', 'the usual one of its key'],
            ...(ALGORITHMS[keyType] ?? []).map((one) => [one, one] as const),
          ]}
        />
      </Label>
    </Pair>
    <Details hasFields>
      <Summary>Chain and checks</Summary>
      <Label>
        Chain in place of the one that is found: ids or names, one on each line, “self” first
        <TextArea
          name="manual_chain"
          isCode
          rows={3}
          spellCheck={false}
          defaultValue={values.manual_chain}
        />
      </Label>
      <FieldSet>
        <legend>Not checked before it signs</legend>
        {CHECKS.map(([check, words]) => (
          <Choice key={check} name={check} isTicked={values[check]}>
            {words}
          </Choice>
        ))}
      </FieldSet>
    </Details>
  </>
);

const chosen = <Name extends string>(
  choices: readonly (readonly [Name, string])[],
  isChosen: (name: Name) => boolean,
): string =>
  choices
    .filter(([name]) => isChosen(name))
    .map(([, words]) => words)
    .join(', ');

export const IssuerSettings = (props: {
  mount: string;
  issuer: Issuer;
  /** "RSA", "ECDSA" or "Ed25519" */
  keyType: string;
  nameOf: (id: string) => string;
  mayChange: boolean;
}) => {
  const { mount, issuer, keyType, nameOf } = props;
  const path = `${mount}/issuer/${issuer.issuer_id}`;
  const uses = usesIn(issuer.usage);
  const unchecked: string = chosen<Check>(CHECKS, (check) => issuer[check]);
  return (
    <Card title="Settings">
      <FactList
        facts={[
          ['Name', issuer.issuer_name || '–'],
          ['Used for', chosen(USES, (use) => uses.includes(use)) || 'nothing but reading it'],
          [
            'Certificates that would outlive it',
            OUTLIVING[issuer.leaf_not_after_behavior] ?? issuer.leaf_not_after_behavior,
          ],
          [
            'Signature of revocation lists',
            issuer.revocation_signature_algorithm || 'the usual one of its key',
          ],
          ['Chain', issuer.manual_chain?.map(nameOf).join(', ') ?? 'as it is found'],
          ...(unchecked === '' ? [] : [['Not checked before it signs', unchecked] as const]),
        ]}
      />
      {props.mayChange && (
        <FormActions>
          <EditButton
            edits="issuer-settings"
            label="Change the settings"
            title="Settings of the issuer"
            target={secretTarget<Issuer>(path, { method: 'PATCH' })}
            valuesOf={valuesOf}
            bodyOf={changedSettings}
            fields={(values) => <SettingsFields values={values} keyType={keyType} />}
            commands={() => [vaultCommand(`vault patch ${path} leaf_not_after_behavior=truncate`)]}
          />
        </FormActions>
      )}
    </Card>
  );
};
