import { ValidateIf } from 'class-validator';

/** May be left out. Unlike class-validator's own, `null` is not "left out" but a wrong type. */
export const Optional = () => ValidateIf((_object, value) => value !== undefined);
