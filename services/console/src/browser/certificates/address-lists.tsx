/** The lists of addresses that certificates name: those of a whole authority, or of one issuer. */

import { Label, TextArea } from '../components/fields.tsx';
import { Code, Hint } from '../components/text.tsx';

const LISTS = [
  ['issuing_certificates', 'Certificate of the issuer'],
  ['crl_distribution_points', 'Revocation list'],
  ['delta_crl_distribution_points', 'Delta list'],
  ['ocsp_servers', 'OCSP responder'],
] as const;

type ListName = (typeof LISTS)[number][0];

export type AddressLists = Readonly<Record<ListName, readonly string[]>>;

/** The lists as fields of a form: one address on each line. */
export const addressValues = (lists: AddressLists): Readonly<Record<ListName, string>> => ({
  issuing_certificates: lists.issuing_certificates.join('\n'),
  crl_distribution_points: lists.crl_distribution_points.join('\n'),
  delta_crl_distribution_points: lists.delta_crl_distribution_points.join('\n'),
  ocsp_servers: lists.ocsp_servers.join('\n'),
});

/** The lines of a field that are not empty. */
export const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Lists are sent as lists, because an address may contain a comma. */
export const changedLists = (
  changed: Readonly<Record<string, string | boolean | undefined>>,
): object =>
  Object.fromEntries(
    Object.entries(changed).map(([name, value]) => [
      name,
      typeof value === 'string' ? linesOf(value) : value,
    ]),
  );

/** The lists as facts. */
export const addressFacts = (lists: AddressLists): readonly (readonly [string, string])[] =>
  LISTS.map(([name, words]) => [words, lists[name].join(', ') || '–']);

/** A field for each list. */
export const AddressFields = ({ values }: { values: Readonly<Record<ListName, string>> }) =>
  LISTS.map(([name, words]) => (
    <Label key={name}>
      {words} (one address on each line)
      <TextArea name={name} rows={2} spellCheck={false} defaultValue={values[name]} />
    </Label>
  ));

/** Explains what stands for the issuer and the cluster in an address. */
export const TemplateHint = () => (
  <Hint>
    In an address, <Code>{'{{issuer_id}}'}</Code> stands for the id of the issuer,{' '}
    <Code>{'{{cluster_path}}'}</Code> and <Code>{'{{cluster_aia_path}}'}</Code> for the addresses of
    the cluster, which each cluster of a replication has for itself.
  </Hint>
);
