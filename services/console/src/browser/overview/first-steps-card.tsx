/** The steps of a new installation, to a certificate and an applied workspace. */
import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { Card } from '../components/page.tsx';
import { Pill } from '../components/pill.tsx';
import { Steps } from '../components/steps.tsx';
import { PartHeading } from '../components/text.tsx';
import { useCertificateSteps } from './certificate-steps.tsx';
import type { Step } from './step.ts';
import { useWorkspaceSteps } from './workspace-steps.tsx';

const HIDDEN_KEY = 'keelson-first-steps';

const StepList = ({ title, steps }: { title: string; steps: readonly Step[] }) => {
  const next = steps.find(({ isDone }) => !isDone);
  return steps.length === 0 ? null : (
    <>
      <PartHeading>{title}</PartHeading>
      <Steps>
        {steps.map((step) => (
          <li key={step.title}>
            {step.title}{' '}
            {step.isDone ? <Pill tone="good">done</Pill> : step === next && step.action}
          </li>
        ))}
      </Steps>
    </>
  );
};

/** Shown until all steps that the person may take are done, or until it is hidden. */
export const FirstStepsCard = () => {
  const certificates = useCertificateSteps();
  const workspaces = useWorkspaceSteps();
  const [isHidden, setHidden] = useState(() => localStorage.getItem(HIDDEN_KEY) !== null);
  if (isHidden || [...certificates, ...workspaces].every(({ isDone }) => isDone)) return null;
  return (
    <Card
      title="First steps"
      actions={
        <Button
          look="plain"
          onClick={() => {
            localStorage.setItem(HIDDEN_KEY, 'hidden');
            setHidden(true);
          }}
        >
          Hide these steps
        </Button>
      }
    >
      <StepList title="A certificate" steps={certificates} />
      <StepList title="An applied workspace" steps={workspaces} />
    </Card>
  );
};
