/** The Job that executes one phase, and the Secret that brings it there. */

/** Choices of the operator: the JSON file that KEELSON_AGENT_JOB_FILE names. */
export interface JobTemplate {
  /** Namespace of the Jobs. */
  readonly namespace: string;
  /** An image of the agent, with the tools of the pool. */
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly imagePullSecrets?: readonly object[];
  /** One without rights. */
  readonly serviceAccountName: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly object[];
  readonly resources: object;
  /** Size of the folder of a phase, such as "10Gi". */
  readonly folderSize: string;
  /** Time after which the phase is interrupted. */
  readonly deadlineSeconds: number;
}

export interface JobOrder {
  readonly name: string;
  readonly runId: string;
  readonly phase: 'plan' | 'apply';
  /** Settings of the agent that the pod needs: no token. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Files of the Secret. */
export const PHASE_FILE = 'phase.json';
export const AUTHORITY_FILE = 'authority.pem';

const SECRET_FOLDER = '/run/secret';
/** In memory, and emptied by the process that executes the phase before it runs code of the phase. */
export const HANDED_FOLDER = '/run/phase';

const USER = 65_532;
/** A Job whose agent has ended is removed after this time, with its Secret. */
const KEPT_SECONDS = 300;
/** The tool gets 15 s to write its state, and what follows takes as long. */
const GRACE_SECONDS = 40;

const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/**
 * Two containers of the same image. The first one copies the Secret, which the second one, where code of the run is
 * executed, does not see. Neither has a token of Kubernetes.
 */
export const toJob = (
  template: JobTemplate,
  { name, runId, phase, settings }: JobOrder,
): object => {
  const labels = {
    ...template.labels,
    'app.kubernetes.io/name': 'keelson-run',
    'app.kubernetes.io/component': phase,
    'keelson.dev/run': runId,
  };
  const env = Object.entries({ ...settings, HOME: '/data', TMPDIR: '/tmp' }).map(
    ([key, value]) => ({ name: key, value }),
  );
  const container = (step: 'receive' | 'execute', volumeMounts: readonly object[]): object => ({
    name: step,
    image: template.image,
    ...(template.imagePullPolicy && { imagePullPolicy: template.imagePullPolicy }),
    args: [step],
    env,
    resources: template.resources,
    securityContext: CONTAINER_SECURITY,
    volumeMounts,
  });
  const handed = { name: 'handed', mountPath: HANDED_FOLDER };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: template.namespace, labels },
    spec: {
      // A phase is executed once: a second attempt could apply twice.
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      activeDeadlineSeconds: template.deadlineSeconds,
      ttlSecondsAfterFinished: KEPT_SECONDS,
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: 'Never',
          serviceAccountName: template.serviceAccountName,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: GRACE_SECONDS,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: USER,
            runAsGroup: USER,
            fsGroup: USER,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          ...(template.imagePullSecrets && { imagePullSecrets: template.imagePullSecrets }),
          ...(template.nodeSelector && { nodeSelector: template.nodeSelector }),
          ...(template.tolerations && { tolerations: template.tolerations }),
          initContainers: [
            container('receive', [
              { name: 'secret', mountPath: SECRET_FOLDER, readOnly: true },
              handed,
            ]),
          ],
          containers: [
            container('execute', [
              handed,
              { name: 'data', mountPath: '/data' },
              { name: 'tmp', mountPath: '/tmp' },
            ]),
          ],
          volumes: [
            { name: 'secret', secret: { secretName: name, defaultMode: 0o440 } },
            { name: 'handed', emptyDir: { medium: 'Memory', sizeLimit: '4Mi' } },
            { name: 'data', emptyDir: { sizeLimit: template.folderSize } },
            { name: 'tmp', emptyDir: { sizeLimit: template.folderSize } },
          ],
        },
      },
    },
  };
};

/** Where the first container reads, and hands on to. */
export const secretFile = (name: string): string => `${SECRET_FOLDER}/${name}`;
export const handedFile = (name: string): string => `${HANDED_FOLDER}/${name}`;

/** It is removed with the Job at the latest. */
export const toSecret = (
  { namespace }: JobTemplate,
  job: { readonly name: string; readonly uid: string },
  files: Readonly<Record<string, string>>,
): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: job.name,
    namespace,
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: job.name, uid: job.uid }],
  },
  type: 'Opaque',
  immutable: true,
  data: Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
  ),
});
