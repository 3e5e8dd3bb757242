// People whose names are written in other scripts, with the Latin spelling that their email addresses use.

/** A name as its owner writes it, and in Latin letters. */
export interface NativeName {
  readonly fullName: string;
  readonly first: string;
  readonly last: string;
  readonly gender: "f" | "m";
}

function named(lines: string): NativeName[] {
  return lines
    .trim()
    .split("\n")
    .map((line) => {
      const [fullName, first, last, gender] = line.split("|").map((part) => part.trim()) as [
        string,
        string,
        string,
        "f" | "m",
      ];
      return { fullName, first, last, gender };
    });
}

/** None of them has the name of an anchor. */
export const nativeNames: readonly NativeName[] = named(`
  Δημήτρης Αγγελόπουλος | Dimitris | Angelopoulos | m
  Κατερίνα Μαυρομάτη | Katerina | Mavromati | f
  Γιώργος Ξενάκης | Giorgos | Xenakis | m
  Σοφία Θεοδώρου | Sofia | Theodorou | f
  Дмитрий Орлов | Dmitri | Orlov | m
  Наталья Ёлкина | Natalia | Yolkina | f
  Олександр Шевчук | Oleksandr | Shevchuk | m
  Мария Георгиева | Maria | Georgieva | f
  Јелена Јовановић | Jelena | Jovanovic | f
  محمد العلي | Mohammed | Al-Ali | m
  فاطمة الزهراء | Fatima | Al-Zahra | f
  سامي منصور | Sami | Mansour | m
  رضا کریمی | Reza | Karimi | m
  דוד לוי | David | Levi | m
  שירה אברהם | Shira | Avraham | f
  יעל בן־דוד | Yael | Ben-David | f
  राहुल वर्मा | Rahul | Verma | m
  अंजलि देशपांडे | Anjali | Deshpande | f
  विक्रम सिंह | Vikram | Singh | m
  李娜 | Na | Li | f
  陈伟 | Wei | Chen | m
  張美玲 | Meiling | Chang | f
  欧阳静 | Jing | Ouyang | f
  田中 健一 | Kenichi | Tanaka | m
  鈴木 さくら | Sakura | Suzuki | f
  高橋 ゆうた | Yuta | Takahashi | m
  ジョン・スミス | John | Smith | m
  이서연 | Seoyeon | Lee | f
  박지훈 | Jihoon | Park | m
  최 수아 | Sua | Choi | f
  อารีรัตน์ วงศ์สวัสดิ์ | Areerat | Wongsawat | f
  ณัฐพล ศรีสุข | Nattapon | Srisuk | m
  პაატა ლომიძე | Paata | Lomidze | m
  Արամ Պետրոսյան | Aram | Petrosyan | m
  முத்து குமார் | Muthu | Kumar | m
`);
