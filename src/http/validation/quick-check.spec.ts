import 'reflect-metadata';
import {
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  MaxLength,
  MinLength,
  ValidateNested,
  validate,
} from 'class-validator';
import fc from 'fast-check';
import { surelyPasses } from './quick-check.js';

class Inner {
  @IsString()
  word!: string;
}

class Asked {
  @IsString()
  @MinLength(1)
  @MaxLength(8)
  name!: string;

  @IsOptional()
  @IsIn(['a', 'b'])
  kind?: string;

  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  @MaxLength(3, { each: true })
  words?: string[];

  @IsOptional()
  @IsObject()
  free?: object;

  @IsOptional()
  @ValidateNested()
  inner?: Inner;
}

class Grouped {
  @IsInt({ groups: ['later'] })
  number!: number;
}

class Bare {
  unruled = 1;
}

const make = <Made extends object>(made: new () => Made, fields: object): Made =>
  Object.assign(new made(), fields);

const anything = fc.oneof(
  { arbitrary: fc.string({ maxLength: 10 }), weight: 4 },
  fc.constantFrom<unknown>(undefined, null, 0, true, {}, [], 'a', 'b', ['abc'], ['abcd'], [1]),
  fc.array(fc.string({ maxLength: 4 }), { maxLength: 3 }),
);

test('what it lets pass has no errors in class-validator, whatever the fields contain', async () => {
  const record = fc.record(
    { name: anything, kind: anything, words: anything, free: anything },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(record, async (fields) => {
      const asked = make(Asked, fields);
      expect(surelyPasses(asked)).toBe((await validate(asked, { forbidUnknownValues: true })).length === 0);
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ['an object within the object', make(Asked, { name: 'x', inner: make(Inner, { word: 'x' }) })],
  ['rules of a group', make(Grouped, { number: 1 })],
  ['a class without rules', new Bare()],
])('%s is left to class-validator', (_, instance) => {
  expect(surelyPasses(instance)).toBe(false);
});
