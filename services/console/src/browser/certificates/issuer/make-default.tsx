/** Makes an issuer the default, after showing what will happen. */
import { useSecret } from '../../api/queries.ts';
import { callSecrets } from '../../api/secrets-api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { secretsCurl, vaultCommand } from '../../components/commands.tsx';
import { formatTime } from '../../components/format.ts';
import { Code } from '../../components/text.tsx';
import type { AddressLists } from '../address-lists.tsx';
import { certificateContents } from '../certificate-contents.ts';
import { type Issuer, OUTLIVING } from './issuer.ts';
import { useRoleIssuers } from './role-issuers.ts';

/** An issuer with its name for people. */
export interface NamedIssuer {
  readonly name: string;
  readonly issuer: Issuer;
}

const topOf = ({ ca_chain: chain, certificate }: Issuer): string =>
  certificateContents(chain.at(-1) ?? certificate).subject;

/** A change of the key by which certificates are signed, which some old clients do not take. */
const keyChange = (next: Issuer, former: Issuer): string | undefined => {
  const [to, from] = [next, former].map(({ certificate }) => certificateContents(certificate).key);
  return to === from ? undefined : `Certificates are signed by ${to} in place of ${from}.`;
};

const trustChange = (next: Issuer, former: Issuer): string =>
  topOf(next) === topOf(former)
    ? `Clients that trust ${topOf(former)} need nothing.`
    : `Clients that trust ${topOf(former)} and not ${topOf(next)} refuse what it issues.`;

/** Lists at addresses without an issuer, which the default signs. */
const listsWithoutIssuer = (mount: string, addresses: AddressLists | null | undefined) =>
  (addresses?.crl_distribution_points ?? []).filter(
    (one) => one.endsWith(`/${mount}/crl`) || one.endsWith(`/${mount}/crl/pem`),
  );

/** Which roles issue by the default, and which keep to an issuer of their own. */
const RoleChanges = ({ mount }: { mount: string }) => {
  const { roles, isPending, isPartial } = useRoleIssuers(mount);
  if (isPending) return <li>The roles are being read.</li>;
  const following = roles.filter(({ issuer }) => issuer === 'default');
  const staying = roles.filter(({ issuer }) => issuer !== 'default');
  return (
    <>
      <li>
        {following.length === 0
          ? 'No role follows the default.'
          : `Roles that issue by it from then on: ${following.map(({ name }) => name).join(', ')}.`}
      </li>
      {staying.length > 0 && (
        <li>
          Roles that keep to the issuer that they name:{' '}
          {staying.map(({ name, issuer }) => `${name} (${issuer})`).join(', ')}.
        </li>
      )}
      {isPartial && <li>There are further roles, which were not looked at.</li>}
    </>
  );
};

/** The changes that come with an issuer as the default. */
const Preview = (props: { mount: string; next: NamedIssuer; former: NamedIssuer | undefined }) => {
  const { mount, next, former } = props;
  const { data: addresses } = useSecret<AddressLists>(`${mount}/config/urls`);
  const contents = certificateContents(next.issuer.certificate);
  const lists = listsWithoutIssuer(mount, addresses);
  const isIssuing = next.issuer.usage.split(',').includes('issuing-certificates');
  const changedKey = former && keyChange(next.issuer, former.issuer);
  return (
    <ul aria-label="What will happen">
      {next.issuer.key_id === '' && (
        <li>Its key is not here: nothing can be issued by it until the key is imported.</li>
      )}
      {!isIssuing && <li>Its settings do not let it issue: requests are refused until they do.</li>}
      <RoleChanges mount={mount} />
      {former && <li>{trustChange(next.issuer, former.issuer)}</li>}
      {changedKey !== undefined && <li>{changedKey}</li>}
      <li>
        It is valid until {formatTime(contents.notAfter.getTime())}: certificates that would outlive
        it {OUTLIVING[next.issuer.leaf_not_after_behavior] ?? next.issuer.leaf_not_after_behavior}.
      </li>
      <li>
        What {former === undefined ? 'other issuers have' : `${former.name} has`} issued stays
        valid.
      </li>
      {lists.length > 0 && former && (
        <li>
          {lists.join(', ')} becomes the list of {next.name}. Certificates of {former.name} that
          name this address no longer find the list of their issuer there: name an address with{' '}
          <Code>{'{{issuer_id}}'}</Code> before, among the settings.
        </li>
      )}
    </ul>
  );
};

export const MakeDefault = (props: {
  mount: string;
  id: string;
  next: NamedIssuer;
  former: NamedIssuer | undefined;
}) => {
  const { mount, id, next, former } = props;
  const path = `${mount}/config/issuers`;
  return (
    <ActionButton
      label="Make it the default"
      name={`Make it the default: ${next.name}`}
      title={`Issue by ${next.name} from now on?`}
      confirm="Make it the default"
      act={() => callSecrets('POST', path, { body: { default: id } })}
      commands={[
        secretsCurl('POST', path, { default: id }),
        vaultCommand(`vault write ${path} default=${id}`),
      ]}
    >
      <Preview mount={mount} next={next} former={former} />
    </ActionButton>
  );
};
