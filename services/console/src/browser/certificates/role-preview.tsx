/** Preview, while a role is being edited, of how it would answer a request. */
import { type KeyboardEvent, useState } from 'react';
import { FieldSet, Input, Label, Pair } from '../components/fields.tsx';
import { Pill } from '../components/pill.tsx';
import { PlainList } from '../components/plain-list.tsx';
import { lifetimeDecision, nameDecision, nameRules, type RequestRules } from './role.ts';

/** Prevents Enter from submitting the role. */
const keepOpen = (event: KeyboardEvent): void => {
  if (event.key === 'Enter') event.preventDefault();
};

export const RolePreview = ({ rules }: { rules: RequestRules }) => {
  const [name, setName] = useState('www.example.com');
  const [lifetime, setLifetime] = useState('');
  const decisions = [nameDecision(rules, name.trim()), lifetimeDecision(rules, lifetime.trim())];
  const isIssued = decisions.every(({ isAllowed }) => isAllowed);
  // A refusal names what is refused; the rest would distract from it.
  const told = isIssued ? decisions : decisions.filter(({ isAllowed }) => !isAllowed);
  return (
    <FieldSet>
      <legend>What a request would get</legend>
      <PlainList aria-label="Rules in words">
        {nameRules(rules).map((rule) => (
          <li key={rule}>{rule}</li>
        ))}
      </PlainList>
      <Pair>
        <Label>
          Try a name
          <Input
            autoComplete="off"
            value={name}
            onChange={({ target }) => setName(target.value)}
            onKeyDown={keepOpen}
          />
        </Label>
        <Label>
          Try a validity (empty: none is asked for)
          <Input
            autoComplete="off"
            value={lifetime}
            onChange={({ target }) => setLifetime(target.value)}
            onKeyDown={keepOpen}
          />
        </Label>
      </Pair>
      <p role="status" aria-label="Preview">
        <Pill tone={isIssued ? 'good' : 'bad'}>{isIssued ? 'issued' : 'refused'}</Pill>{' '}
        {told.map(({ reason }) => reason).join(' ')}
      </p>
    </FieldSet>
  );
};
