/** One certificate: its contents, its validity and its revocation. */
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { FactList } from '../components/fact-list.tsx';
import { FormActions } from '../components/fields.tsx';
import { formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty, Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { Pem } from '../components/pem.tsx';
import { Pill } from '../components/pill.tsx';
import { Code } from '../components/text.tsx';
import { certificateContents } from './certificate-contents.ts';
import { Download } from './download.tsx';
import { ExtensionList } from './extension-list.tsx';
import { ReasonField } from './reason-field.tsx';
import { ValidityBar } from './validity-bar.tsx';

const route = getRouteApi('/ui/certificates/$mount/certificate/$serial');
const MS = 1000;

interface Certificate {
  readonly certificate: string;
  /** Epoch seconds; 0 when the certificate is not revoked. */
  readonly revocation_time?: number;
  readonly issuer_id?: string;
}

const Revoke = (props: { mount: string; serial: string; name: string }) => {
  const { mount, serial, name } = props;
  const path = `${mount}/revoke`;
  const may = useCapabilities([path]);
  if (!may(path, 'update')) return null;
  return (
    <ActionButton
      label="Revoke"
      title={`Revoke the certificate of ${name}?`}
      confirm="Revoke it"
      tone="danger"
      act={({ text }) =>
        callSecrets('POST', path, { body: { serial_number: serial, reason: text('reason') } })
      }
      commands={[
        secretsCurl('POST', path, { serial_number: serial, reason: 'superseded' }),
        vaultCommand(`vault write ${path} serial_number=${serial} reason=superseded`),
      ]}
    >
      <p>
        It is put on the revocation list and OCSP says so. Clients that ask refuse it from then on.
        It cannot be taken back.
      </p>
      <ReasonField />
    </ActionButton>
  );
};

const Shown = ({ certificate }: { certificate: Certificate }) => {
  const { mount, serial } = route.useParams();
  const revokedAt = certificate.revocation_time ?? 0;
  const contents = useMemo(
    () => certificateContents(certificate.certificate),
    [certificate.certificate],
  );
  const name = contents.commonName ?? serial;
  return (
    <Page
      title={name}
      windowTitle={`Certificate of ${name}`}
      lead={
        <>
          <PageLink to="/ui/certificates/$mount" params={{ mount }}>
            {mount}
          </PageLink>{' '}
          {revokedAt > 0 && <Pill tone="bad">revoked</Pill>}
        </>
      }
      actions={revokedAt === 0 && <Revoke mount={mount} serial={serial} name={name} />}
    >
      <Card>
        <ValidityBar from={contents.notBefore.toISOString()} to={contents.notAfter.toISOString()} />
        <FactList
          facts={[
            ['Serial number', <Code key="serial">{serial}</Code>],
            ['Subject', contents.subject || '–'],
            ['Issuer', contents.issuer],
            ['Key', contents.key],
            ['Signature', contents.signature],
            ...(revokedAt > 0 ? ([['Revoked', formatTime(revokedAt * MS)]] as const) : []),
          ]}
        />
        <Commands
          commands={[
            secretsCurl('GET', `${mount}/cert/${serial}`),
            vaultCommand(`vault read ${mount}/cert/${serial}`),
          ]}
        />
      </Card>
      <ExtensionList contents={contents} />
      <Card
        title="PEM"
        actions={<CopyButton text={certificate.certificate} label="Copy the PEM" />}
      >
        <Pem>{certificate.certificate}</Pem>
        <FormActions>
          <Download name={`${name}.pem`} content={`${certificate.certificate}\n`} label="PEM" />
        </FormActions>
      </Card>
    </Page>
  );
};

export const CertificatePage = () => {
  const { mount, serial } = route.useParams();
  const query = useSecret<Certificate>(`${mount}/cert/${serial}`);
  return (
    <Loaded query={query}>
      {(certificate) =>
        certificate === null ? (
          <Page title="No such certificate">
            <Empty>This authority has issued nothing with the serial number {serial}.</Empty>
          </Page>
        ) : (
          <Shown certificate={certificate} />
        )
      }
    </Loaded>
  );
};
