// What folding makes of the letters people write names and notes with (contract §3.1).
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fold } from "../../src/search/fold.ts";
import { anyText, everyCodePoint } from "./reference.ts";
import { inForm } from "../support/form.ts";

const otherMark = new RegExp("[\\p{M}--[\\u0900-\\u1fff\\ua8ff\\uaae0-\\uabff]]", "v");

describe("fold", () => {
  test.each([
    ["José", "jose"],
    ["Jose\u0301", "jose"],
    ["ÅNGSTRÖM", "angstrom"],
    ["Nguyễn", "nguyen"],
    ["Ａｎｎａ", "anna"],
    ["O\u1ffdBrien", "o'brien"],
    ["か゛", "ガ"],
    ["あ゙", "ア"],
    ["ﬁn", "fin"],
    ["Ⅷ", "viii"],
    ["½", "1⁄2"],
    ["²", "2"],
    ["①", "1"],
    ["№5", " no 5"],
    ["Acme™", "acme tm "],
    ["ǅ", "dz"],
    ["Ё", "е"],
    ["أحمد", "احمد"],
    ["שָׁלוֹם", "שלומ"],
    ["ｶﾞ", "ガ"],
    ["が", "ガ"],
    ["たなか", "タナカ"],
    ["ゝ", "ヽ"],
    ["いすゞ", "イスズ"],
    ["佐々木", "佐佐木"],
    ["関ヶ原", "関ケ原"],
    ["เเดง", "แดง"],
    ["Җәмилә", "жамила"],
    ["राम", "राम"],
    ["आनन्द चाँद", "आनंद चांद"],
    ["മോഹൻ", "മോഹന്"],
    ["উৎপল", "উত্পল"],
    ["ஶ்ரீ", "ஸ்ரீ"],
    ["ኃይለ ሥላሴ", "ሀይለ ስላሴ"],
    ["渡邊 髙﨑", "渡辺 高崎"],
    ["क़मर", "कमर"],
    ["ខ្មែរ", "ខ្មែរ"],
    ["کریمی", "كريمي"],
    ["على", "علي"],
    ["فاطمة", "فاطمه"],
    ["ابراھیم", "ابراهيم"],
    ["Ґудзь", "гудзь"],
    ["Қасым", "касым"],
    ["محمـد", "محمد"],
    ["ג׳ון", "ג'ונ"],
    ["น้ำ", "นํา"],
    ["한", "\u1112\u1161\u11ab"],
    ["z\u0301\u0323\u0300", "z"],
  ])("folds %s to %s [SRC-01]", (text, folded) => {
    expect(fold(text)).toBe(folded);
  });

  test.each([
    ["Straße", "strasse"],
    ["STRASSE", "strasse"],
    ["STRAẞE", "strasse"],
    ["ΣΊΣΥΦΟΣ", "σισυφοσ"],
    ["σίσυφος", "σισυφοσ"],
    ["İstanbul", "istanbul"],
    ["ISTANBUL", "istanbul"],
    ["ısparta", "isparta"],
    ["Ἀθήνᾳ", "αθηνα"],
    ["և", "եւ"],
    ["ŉ", "'n"],
    ["ſ", "s"],
    ["ᲀ", "в"],
    ["ꭰ", "ꭰ"],
    ["Ꭰ", "ꭰ"],
  ])("case-folds %s to %s [SRC-02]", (text, folded) => {
    expect(fold(text)).toBe(folded);
  });

  test.each([
    ["Ødegård", "odegard"],
    ["Łódź", "lodz"],
    ["Đặng", "dang"],
    ["Ðóra", "dora"],
    ["Þór", "thor"],
    ["Æsir", "aesir"],
    ["ǣ", "ae"],
    ["Œuvre", "oeuvre"],
    ["Ħal", "hal"],
    ["Ŧ", "t"],
    ["Ŋ", "n"],
    ["ĸ", "k"],
    ["Ɓ", "b"],
    ["Ɗan", "dan"],
    ["Ƙ", "k"],
    ["Əliyev", "eliyev"],
    ["Kɔfi", "kofi"],
    ["Ɛ", "e"],
    ["ℏ", "h"],
    ["Kaʻahumanu", "ka'ahumanu"],
    ["ʿAlī", "'ali"],
    ["Oʼbrien", "o'brien"],
  ])("folds %s, which NFKD does not change, to %s [SRC-02]", (text, folded) => {
    expect(fold(text)).toBe(folded);
  });

  test.each([
    ["٠١٢٣٤٥٦٧٨٩"],
    ["۰۱۲۳۴۵۶۷۸۹"],
    ["०१२३४५६७८९"],
    ["๐๑๒๓๔๕๖๗๘๙"],
    ["０１２３４５６７８９"],
    ["𑛐𑛑𑛒𑛓𑛔𑛕𑛖𑛗𑛘𑛙"],
    ["𑛚𑛛𑛜𑛝𑛞𑛟𑛠𑛡𑛢𑛣"],
    ["𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟𝟠𝟡"],
  ])("reads %s as the digits 0 to 9 [CSR-08]", (text) => {
    expect(fold(text)).toBe("0123456789");
  });

  test.each([
    ["কো", "কে"],
    ["கொ", "கெ"],
    ["ಕೀ", "ಕಿ"],
    ["කේ", "කෙ"],
  ])("the vowel sign of %s does not begin with that of %s [SRC-11]", (whole, part) => {
    expect(fold(whole).startsWith(fold(part))).toBe(false);
  });

  test("an invisible character does not split a word [SRC-04]", () => {
    expect(fold("Bud\u00adget s\ufeffoon\u200e")).toBe("budget soon");
  });

  test("every code point that is folded again, composed or decomposed stays the same, without marks other than vowel signs, and at most 18 long [SRC-01]", () => {
    const odd: string[] = [];
    for (const letter of everyCodePoint(inForm(7, 1))) {
      const folded = fold(letter);
      const same =
        fold(folded) === folded && fold(letter.normalize("NFC")) === folded && fold(letter.normalize("NFD")) === folded;
      if (!same || [...folded].length > 18 || otherMark.test(folded)) odd.push(letter);
    }
    expect(odd).toEqual([]);
  });

  test("every text that is folded again, composed or decomposed stays the same [SRC-01]", () => {
    fc.assert(
      fc.property(anyText, fc.string({ unit: "binary" }), (plain, binary) => {
        for (const text of [plain, binary]) {
          const folded = fold(text);
          const others = [folded, text.normalize("NFC"), text.normalize("NFD")];
          expect(others.map(fold)).toEqual([folded, folded, folded]);
        }
        expect(fold(plain.normalize("NFKD"))).toBe(fold(plain));
      }),
      { numRuns: inForm(400, 2_000) },
    );
  });

  test("every plain text folds to the same in upper and lower case [SRC-02]", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(fold(text.toUpperCase())).toBe(fold(text));
        expect(fold(text.toLowerCase())).toBe(fold(text));
      }),
      { numRuns: inForm(250, 1_000) },
    );
  });
});
