import { indexTerms, searchTerms } from './terms.js';

const shared = (kept: string, asked: string) => {
  const keptWords = new Set(indexTerms(kept));
  return searchTerms(asked).filter((word) => keptWords.has(word));
};

describe('words', () => {
  it('are those of the text, once each, in lower case and without punctuation', () => {
    expect(indexTerms("Ada's CAT likes the cat-tree; v1.2.3, deploy_prod!")).toEqual([
      ...['ada', 'cat', 'likes', 'the', 'tree', 'v123', 'deploy', 'prod'],
    ]);
  });

  it.each([
    ['我住在北京，喜欢喝乌龙茶', '乌龙茶'],
    ['我住在北京，喜欢喝乌龙茶', '你知道我住在哪里吗'],
    ['我住在北京，喜欢喝乌龙茶', '茶'],
    ['私はコーヒーが好きです', 'コーヒー'],
    ['ผมชอบดื่มชา', 'ชอบชาไหม'],
    ['서울에서 일해요', '서울'],
    ['Ich wohne in Zürich', 'ZURICH'],
    ['ﾃﾞｰﾀﾍﾞｰｽ', 'データベース'],
    ['Ada uses 微信 for work', '微信'],
    ['Ada uses 微信 for work', 'WORK'],
  ])('"%s" is found by "%s"', (kept, asked) => {
    expect(shared(kept, asked)).not.toEqual([]);
  });

  it.each([
    ['我喜欢喝茶', '北京'],
    ['她去上海', '海水'],
    ['Ada likes tea', 'coffee'],
  ])('"%s" is not found by "%s"', (kept, asked) => {
    expect(shared(kept, asked)).toEqual([]);
  });

  it('are none for text without words, and endless ones are cut', () => {
    expect([indexTerms(' \u0000…!👍'), searchTerms('')]).toEqual([[], []]);
    expect(indexTerms(`a\uD800b ${'x'.repeat(10_000)}`).map((word) => word.length)).toEqual([1, 1, 64]);
    expect(indexTerms('𝒜'.repeat(100))).toEqual(['a'.repeat(64)]);
  });

  it('contain nothing that a search could take for an operator', () => {
    const words = indexTerms(`a'b | c & !d :* \\e "f" <-> g(h) 'i'':j`);
    expect(words.every((word) => /^[\p{L}\p{M}\p{N}]+$/u.test(word))).toBe(true);
  });
});
