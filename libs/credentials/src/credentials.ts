export { LOCKOUT_UPGRADES, type Lockout, lockoutShape, type UserLockout } from './lockout.ts';
export { Lockouts } from './lockouts.ts';
export {
  newPasscodeKey,
  type PasscodeRules,
  type PasscodeUse,
  passcodeAddress,
  passcodeUseShape,
  periodOfPasscode,
  UNUSED,
  waitsUntilMs,
} from './passcode.ts';
export { hashPassword, verifyPassword } from './password.ts';
