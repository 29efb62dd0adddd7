/** One issuer: its certificate, its settings and addresses, and its end. */
import { getRouteApi } from '@tanstack/react-router';
import { useCapabilities, useSecret, useSecretList } from '../../api/queries.ts';
import { Commands, secretsCurl, vaultCommand } from '../../components/commands.tsx';
import { FactList } from '../../components/fact-list.tsx';
import { FormActions } from '../../components/fields.tsx';
import { formatTime } from '../../components/format.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Card, Empty, Page } from '../../components/page.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { Pill } from '../../components/pill.tsx';
import { Code } from '../../components/text.tsx';
import { certificateContents } from '../certificate-contents.ts';
import { Download } from '../download.tsx';
import { ValidityBar } from '../validity-bar.tsx';
import { EndIssuer } from './end-issuer.tsx';
import type { Issuer, IssuerInfo } from './issuer.ts';
import { IssuerAddresses } from './issuer-addresses.tsx';
import { IssuerSettings } from './issuer-settings.tsx';
import { nameOfIssuer, useIssuers } from './issuers.ts';
import { SignAuthority } from './sign-authority.tsx';

const route = getRouteApi('/ui/certificates/$mount/issuer/$issuer');

const Certificate = (props: { mount: string; issuer: Issuer; info: IssuerInfo | undefined }) => {
  const { mount, issuer, info } = props;
  const contents = certificateContents(issuer.certificate);
  return (
    <Card
      title="Certificate"
      actions={
        <span>
          {info?.is_default === true && <Pill tone="good">default</Pill>}{' '}
          {issuer.revoked && <Pill tone="bad">revoked</Pill>}{' '}
          {issuer.key_id === '' && <Pill>without a key</Pill>}
        </span>
      }
    >
      <ValidityBar from={contents.notBefore.toISOString()} to={contents.notAfter.toISOString()} />
      <FactList
        facts={[
          ['Id', <Code key="id">{issuer.issuer_id}</Code>],
          ['Subject', contents.subject],
          ['Signed by', contents.issuer],
          ['Key', contents.key],
          ['Expires', formatTime(contents.notAfter.getTime())],
          ...(issuer.revoked
            ? [
                [
                  'Revoked',
                  `${formatTime(issuer.revocation_time_rfc3339)}, ${issuer.revocation_reason ?? 'unspecified'}`,
                ] as const,
              ]
            : []),
          ...(info === undefined
            ? []
            : [['Serial number', <Code key="serial">{info.serial_number}</Code>] as const]),
        ]}
      />
      <FormActions>
        <Download
          name={`${issuer.issuer_name || issuer.issuer_id}.pem`}
          content={issuer.certificate}
          label="PEM"
        />
        <Download
          name={`${issuer.issuer_name || issuer.issuer_id}-chain.pem`}
          content={issuer.ca_chain.join('\n')}
          label="chain"
        />
      </FormActions>
      <Commands
        commands={[
          secretsCurl('GET', `${mount}/issuer/${issuer.issuer_id}`),
          vaultCommand(`vault read ${mount}/issuer/${issuer.issuer_id}`),
        ]}
      />
    </Card>
  );
};

/** An issuer that was found, with what the token may do with it. */
const FoundIssuer = ({ mount, issuer }: { mount: string; issuer: Issuer }) => {
  const { issuer_id: id } = issuer;
  const path = `${mount}/issuer/${id}`;
  const { list, documents } = useIssuers(mount);
  const infos = list.data?.infos ?? {};
  const may = useCapabilities([path, `${path}/revoke`, `${path}/sign-intermediate`]);
  const nameOf = (one: string): string => nameOfIssuer(one, infos[one]);
  const contents = certificateContents(issuer.certificate);
  const isDefault = infos[id]?.is_default === true;
  return (
    <>
      <Certificate mount={mount} issuer={issuer} info={infos[id]} />
      <IssuerSettings
        mount={mount}
        issuer={issuer}
        keyType={contents.key.split(' ')[0] ?? ''}
        nameOf={nameOf}
        mayChange={may(path, 'patch')}
      />
      <IssuerAddresses mount={mount} issuer={issuer} mayChange={may(path, 'patch')} />
      {may(`${path}/sign-intermediate`, 'update') && issuer.key_id !== '' && (
        <SignAuthority mount={mount} id={id} />
      )}
      <EndIssuer
        mount={mount}
        issuer={issuer}
        name={nameOf(id)}
        isDefault={isDefault}
        chained={[...documents]
          .filter(([one, { manual_chain: chain }]) => one !== id && chain?.includes(id) === true)
          .map(([one]) => nameOf(one))}
        mayRevoke={may(`${path}/revoke`, 'update')}
        mayDelete={may(path, 'delete')}
      />
    </>
  );
};

export const IssuerPage = () => {
  const { mount, issuer: reference } = route.useParams();
  const query = useSecret<Issuer>(`${mount}/issuer/${reference}`);
  const { data: listed } = useSecretList<IssuerInfo>(`${mount}/issuers`);
  const id = query.data?.issuer_id ?? reference;
  const name = nameOfIssuer(id, listed?.infos[id]);
  return (
    <Page
      title={name}
      lead={
        <PageLink to="/ui/certificates/$mount" params={{ mount }} search={{ tab: 'issuers' }}>
          Issuers of {mount}
        </PageLink>
      }
    >
      <Loaded query={query}>
        {(issuer) =>
          issuer === null ? (
            <Empty>There is no such issuer.</Empty>
          ) : (
            <FoundIssuer mount={mount} issuer={issuer} />
          )
        }
      </Loaded>
    </Page>
  );
};
