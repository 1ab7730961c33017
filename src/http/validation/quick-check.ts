import { getMetadataStorage, type ValidationArguments, ValidationTypes } from 'class-validator';

type RequestClass = new () => object;
type Metadata = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

interface Rule {
  readonly each: boolean;
  readonly targetName: string;
  readonly constraints: unknown[];
  readonly check: (value: unknown, args: ValidationArguments) => unknown;
}

/** The rules of one property of a request class. */
interface PropertyRules {
  readonly property: string;
  /** The rules hold when all of these do, as those of `IsOptional`. */
  readonly conditions: readonly ((object: unknown, value: unknown) => boolean)[];
  readonly rules: readonly Rule[];
  /** Has rules that only class-validator itself can check, such as those of nested objects. */
  readonly isDeep: boolean;
}

const known = new WeakMap<RequestClass, readonly PropertyRules[] | undefined>();

/**
 * Whether an instance surely passes the rules of its class: with class-validator's own checks, put together once for each
 * class. Its `validate` looks them up anew for every object and makes an error for each property, to throw it away when
 * nothing is wrong. False means: ask `validate`, which knows every rule and has the messages.
 */
export function surelyPasses(instance: object): boolean {
  const properties = rulesOf(instance.constructor as RequestClass);
  return properties?.every((one) => passes(one, instance)) ?? false;
}

function passes({ property, conditions, rules, isDeep }: PropertyRules, object: object): boolean {
  const value = (object as Record<string, unknown>)[property];
  for (const holds of conditions) if (!holds(object, value)) return true;
  if (isDeep && value !== undefined) return false;
  for (const { each, targetName, constraints, check } of rules) {
    const args = { targetName, property, object, value, constraints };
    const isFine =
      each && Array.isArray(value)
        ? value.every((item) => check(item, args) === true)
        : check(value, args) === true;
    if (!isFine) return false;
  }
  return true;
}

function rulesOf(requestClass: RequestClass): readonly PropertyRules[] | undefined {
  if (!known.has(requestClass)) known.set(requestClass, readRules(requestClass));
  return known.get(requestClass);
}

/** Undefined for a class with rules of a kind that none of ours has. */
function readRules(requestClass: RequestClass): readonly PropertyRules[] | undefined {
  const storage = getMetadataStorage();
  const all = storage.getTargetValidationMetadatas(requestClass, '', false, false);
  const isUnusual = ({ groups, validateIf }: Metadata) =>
    (Array.isArray(groups) && groups.length > 0) || validateIf !== undefined;
  if (all.length === 0 || all.some(isUnusual)) return undefined;
  return Object.entries(storage.groupByPropertyName(all)).map(([property, rules]) => ({
    property,
    conditions: rules
      .filter(isCondition)
      .map(({ constraints }) => (constraints as Condition[])[0] as Condition),
    rules: rules.filter(isCustom).flatMap((rule) => checksOf(rule, requestClass.name)),
    isDeep: rules.some((rule) => !isCondition(rule) && !isCustom(rule) && !isWhitelist(rule)),
  }));
}

type Condition = PropertyRules['conditions'][number];

const isCondition = ({ type }: Metadata) => type === ValidationTypes.CONDITIONAL_VALIDATION;
const isCustom = ({ type }: Metadata) => type === ValidationTypes.CUSTOM_VALIDATION;
const isWhitelist = ({ type }: Metadata) => type === ValidationTypes.WHITELIST;

function checksOf({ each, constraints, constraintCls }: Metadata, targetName: string): Rule[] {
  return getMetadataStorage()
    .getTargetValidatorConstraints(constraintCls)
    .map(({ instance }) => ({
      each,
      targetName,
      constraints: constraints as unknown[],
      check: (value, args) => instance.validate(value, args),
    }));
}
