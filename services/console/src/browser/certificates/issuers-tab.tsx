/** Issuers of an authority: the chain of signatures over time, rotation, and details of each. */
import { getRouteApi } from '@tanstack/react-router';
import { useCapabilities } from '../api/queries.ts';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { FactList } from '../components/fact-list.tsx';
import { FormActions } from '../components/fields.tsx';
import { formatTime } from '../components/format.ts';
import { useListPage } from '../components/list-page.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { usePages } from '../components/pager.tsx';
import { Pill } from '../components/pill.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { Code } from '../components/text.tsx';
import { certificateContents } from './certificate-contents.ts';
import { Download } from './download.tsx';
import { type Issuer, type IssuerInfo, OUTLIVING } from './issuer/issuer.ts';
import { nameOfIssuer, useIssuers } from './issuer/issuers.ts';
import { MakeDefault, type NamedIssuer } from './issuer/make-default.tsx';
import { IssuerChain } from './issuer-chain.tsx';
import type { ChainedIssuer } from './issuer-rows.ts';
import { RetireIssuer, Rotation } from './rotation.tsx';
import { ValidityBar } from './validity-bar.tsx';

const route = getRouteApi('/ui/certificates/$mount');

/** Cards drawn at once. */
const CARDS_SHOWN = 20;

const ISSUING = 'issuing-certificates';

const IssuerCard = (props: {
  mount: string;
  id: string;
  info: IssuerInfo;
  issuer: Issuer | undefined;
  /** Whether issuers are still read. */
  isPending: boolean;
  /** The default issuer, if it is known. */
  former: NamedIssuer | undefined;
}) => {
  const { mount, id, info, issuer, isPending } = props;
  const may = useCapabilities([`${mount}/config/issuers`, `${mount}/issuer/${id}`]);
  const contents = issuer && certificateContents(issuer.certificate);
  const name = nameOfIssuer(id, info);
  return (
    <Card
      title={name}
      actions={
        <span>
          {info.is_default && <Pill tone="good">default</Pill>}{' '}
          {issuer?.revoked === true && <Pill tone="bad">revoked</Pill>}{' '}
          {info.key_id === '' && <Pill>without a key</Pill>}
        </span>
      }
    >
      {issuer === undefined && isPending && <Skeleton />}
      {contents && (
        <ValidityBar from={contents.notBefore.toISOString()} to={contents.notAfter.toISOString()} />
      )}
      <FactList
        facts={[
          ['Id', <Code key="id">{id}</Code>],
          ['Name', info.issuer_name || '–'],
          ...(contents
            ? ([
                ['Signed by', contents.issuer],
                ['Key', contents.key],
                ['Expires', formatTime(contents.notAfter.getTime())],
              ] as const)
            : []),
          ...(issuer
            ? ([
                ['Usage', issuer.usage.replaceAll(',', ', ')],
                [
                  'Certificates that would outlive it',
                  OUTLIVING[issuer.leaf_not_after_behavior] ?? issuer.leaf_not_after_behavior,
                ],
              ] as const)
            : []),
        ]}
      />
      <FormActions>
        {issuer && (
          <PageLink to="/ui/certificates/$mount/issuer/$issuer" params={{ mount, issuer: id }}>
            Settings of {name}
          </PageLink>
        )}
        {issuer && (
          <Download
            name={`${info.issuer_name || id}.pem`}
            content={issuer.certificate}
            label="PEM"
          />
        )}
        {issuer && !info.is_default && may(`${mount}/config/issuers`, 'update') && (
          <MakeDefault mount={mount} id={id} next={{ name, issuer }} former={props.former} />
        )}
        {issuer?.usage.includes(ISSUING) === true &&
          !info.is_default &&
          may(`${mount}/issuer/${id}`, 'patch') && (
            <RetireIssuer mount={mount} id={id} name={name} />
          )}
      </FormActions>
    </Card>
  );
};

const toChained = (
  issuers: ReadonlyMap<string, Issuer>,
  infos: Readonly<Record<string, IssuerInfo>>,
): readonly ChainedIssuer[] =>
  [...issuers].map(([id, issuer]) => {
    const contents = certificateContents(issuer.certificate);
    return {
      id,
      name: nameOfIssuer(id, infos[id]),
      isDefault: infos[id]?.is_default === true,
      certificate: issuer.certificate,
      chain: issuer.ca_chain,
      fromMs: contents.notBefore.getTime(),
      untilMs: contents.notAfter.getTime(),
    };
  });

/** The steps of a rotation that the token may take. */
const useRotation = (mount: string) => {
  const [root, key, certify, store] = [
    `${mount}/issuers/generate/root/internal`,
    `${mount}/issuers/generate/intermediate/internal`,
    `${mount}/intermediate/cross-sign`,
    `${mount}/intermediate/set-signed`,
  ];
  const may = useCapabilities([root, key, certify, store]);
  return {
    generateRoot: may(root, 'update'),
    generateKey: may(key, 'update'),
    certify: may(certify, 'update'),
    import: may(store, 'update'),
  };
};

const IssuerCards = (props: {
  mount: string;
  ids: readonly string[];
  infos: Readonly<Record<string, IssuerInfo>>;
  issuers: ReadonlyMap<string, Issuer>;
  isPending: boolean;
}) => {
  const { mount, ids, infos, issuers, isPending } = props;
  const { rows, pager } = usePages(ids, CARDS_SHOWN, useListPage('issuers'));
  const [former] = [...issuers]
    .filter(([id]) => infos[id]?.is_default === true)
    .map(([id, issuer]) => ({ name: nameOfIssuer(id, infos[id]), issuer }));
  return (
    <>
      {rows.map((id) => {
        const info = infos[id];
        return info === undefined ? null : (
          <IssuerCard
            key={id}
            mount={mount}
            id={id}
            info={info}
            issuer={issuers.get(id)}
            isPending={isPending}
            former={former}
          />
        );
      })}
      {pager}
    </>
  );
};

export const IssuersTab = () => {
  const { mount } = route.useParams();
  const { list, documents, isPending } = useIssuers(mount);
  const rotation = useRotation(mount);
  const chained = toChained(documents, list.data?.infos ?? {});
  return (
    <>
      {isPending && <Skeleton />}
      {chained.length > 0 && (
        <Card title="Chain">
          <IssuerChain issuers={chained} nowMs={Date.now()} />
        </Card>
      )}
      {Object.values(rotation).includes(true) && <Rotation mount={mount} may={rotation} />}
      <Loaded query={list}>
        {({ keys, infos }) =>
          keys.length === 0 ? (
            <Empty>This authority has no issuer yet: nothing can be issued.</Empty>
          ) : (
            <IssuerCards
              mount={mount}
              ids={keys.toSorted(
                (a, b) =>
                  Number(infos[b]?.is_default === true) - Number(infos[a]?.is_default === true),
              )}
              infos={infos}
              issuers={documents}
              isPending={isPending}
            />
          )
        }
      </Loaded>
      <Commands
        commands={[
          secretsCurl('GET', `${mount}/issuers?list=true`),
          vaultCommand(`vault list ${mount}/issuers`),
        ]}
      />
    </>
  );
};
