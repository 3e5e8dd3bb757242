// Names in Latin letters by where they come from, and the colleagues, partners and children whom people talk of.

/** Given names by gender, and family names. */
export interface NamePool {
  readonly female: readonly string[];
  readonly male: readonly string[];
  readonly family: readonly string[];
  /** The family name stands first. */
  readonly familyFirst?: true;
}

function pool(female: string, male: string, family: string): NamePool {
  return { female: female.split(" "), male: male.split(" "), family: family.split(", ") };
}

/** Names by origin; families with their particles, hyphens and apostrophes. */
export const namePools = {
  english: pool(
    "Alice Beth Bridget Caroline Charlotte Claire Daisy Eleanor Fiona Georgia Hannah Holly Imogen Jane Kate Laura Megan Naomi Olivia Rachel Rosie Sophie Tessa Una Vera",
    "Adam Ben Callum Daniel Duncan Edward Finn Gareth George Harry Ian Jack Kieran Liam Marcus Nathan Oscar Patrick Quentin Robert Sam Theo Victor Will",
    "Ashworth, Barlow, Bennett, Carver, Clarke, Dawson, Ellery, Fairbank, Fletcher, Garside, Hargreaves, Hartley, Ingram, Kingsley, Lockwood, Marlow, Naylor, O'Brien, Okell, Pemberton, Quinn, Radcliffe, Sinclair, Smith-Hughes, Thornton, Underhill, Vance, Whitaker, Yardley, de la Mare, Ackroyd, Bexley, Crossley, Darby, Easton, Farrow, Goodall, Hollis, Jessop, Kirkby, Langley, Merrick, Norwood, Oakes, Prescott, Ramsey, Stanhope, Tilbury, Wetherby, Aspinall",
  ),
  german: pool(
    "Anja Birgit Friederike Greta Heike Jana Jörgine Katrin Lena Märthe Petra Sabine Ute",
    "Bernd Dirk Florian Günther Hannes Jörg Jürgen Lars Matthias Stefan Thorsten Uwe",
    "Bäcker, Brandt, Dörfler, Großmann, Hübner, Jäger, Kessler, Köhler, Lindner, Müller-Lüdenscheidt, Pfeiffer, Schäfer, Strauß, Vogelsang, Weiß, von Arnsberg",
  ),
  french: pool(
    "Adèle Amélie Aurélie Camille Chloé Clémence Élodie Hélène Margaux Noémie Solène Zélie",
    "Benoît Cédric Étienne François Gaël Jérôme Loïc Mathieu Noël Rémi Thibault Théo",
    "Aubert, Béranger, Chevalier, D'Aubigné, Delacroix-Petit, Fournier, Garçon, Lefèvre, Lévêque, Mercier, Noël, Péron, Renaud, Saint-Clair, Vasseur",
  ),
  iberian: pool(
    "Begoña Conceição Elena Inês Itziar Lucía Marisol Núria Pilar Rocío Sofía Ximena",
    "Andrés César Gonçalo Íñigo Iván Javier João Martín Raúl Sebastián Tomás",
    "Barragán, Castaño, Domínguez, Etxeberria, Fernández, García Peña, Gonçalves, Ibáñez, Magalhães, Muñoz, Núñez, Ordóñez, Peñalver, Simões",
  ),
  italian: pool(
    "Chiara Elisa Federica Giulia Ilaria Martina Paola",
    "Alessio Davide Enrico Luca Matteo Nicolò Stefano",
    "Bianchi, Conti, D'Angelo, Ferrari, Gallo, Lo Russo, Marchetti, Pellegrini, Rinaldi",
  ),
  polish: pool(
    "Agnieszka Danuta Elżbieta Ewa Grażyna Justyna Małgorzata Wiktoria Zofia Żaneta",
    "Bartosz Grzegorz Jakub Jędrzej Krzysztof Michał Paweł Radosław Stanisław Wojciech",
    "Błaszczyk, Dąbrowska-Nowak, Grabiec, Jasiński, Kwiecień, Łuczak, Ostrowski, Świątek, Wójcik, Żak",
  ),
  nordic: pool(
    "Astrid Bodil Frøya Guðrún Ingrid Jytte Kirsi Sólveig Tuuli",
    "Anders Bjørn Eiríkur Göran Håkon Jørgen Mikko Sigurður Väinö",
    "Bergström, Dahl, Egilsdóttir, Hämäläinen, Høst, Jørgensen, Lindström, Mäkinen, Nygård, Sæther, Thorvaldsen, Ström",
  ),
  dutch: pool(
    "Anouk Femke Lieke Marijke Sanne",
    "Daan Jeroen Pieter Ruben Wouter",
    "de Bruijn, ter Horst, van den Berg, van der Meer, Vermeulen, Zijlstra",
  ),
  turkish: pool(
    "Ayşe Çiğdem Elif İpek Şebnem",
    "Barış Çağrı Emre Mehmet Ümit",
    "Aydoğan, Çelik, Doğan, Güneş, Şahin, Yıldız",
  ),
  czech: pool(
    "Božena Kateřina Ludmila Tereza Žofie",
    "Jiří Lukáš Ondřej Tomáš Zdeněk",
    "Dvořák, Hájek, Kučera, Novotný, Růžička, Šimek",
  ),
  hungarian: pool("Eszter Ildikó Réka Zsófia", "András Gergő László Zoltán", "Fekete, Győrffy, Kőszegi, Szűcs, Tóth"),
  indian: pool(
    "Ananya Deepa Kavita Meera Nandini Shreya",
    "Arjun Karthik Nikhil Rajiv Sanjay Vikram",
    "Banerjee, Chatterjee, Deshmukh, Iyer, Kulkarni, Menon, Nair, Subramaniam",
  ),
  african: pool(
    "Abena Adaeze Chinyere Lerato Wanjiru Zanele",
    "Babajide Chidi Kwame Kofi Njoroge Thabo",
    "Abiodun, Adéyẹmí, Boateng, Chukwu, Dlamini, Kamau, Mensah, Ndlovu, Okonkwo",
  ),
  arabic: pool(
    "Amira Dina Hanan Nadia Salma",
    "Bilal Hassan Karim Omar Youssef",
    "Al-Masri, Ben Salah, Bouzid, El Amrani, Haddad, Khoury, Mansour",
  ),
  vietnamese: {
    ...pool("Hương Linh Ngọc Thảo Trâm", "Dũng Hiếu Khôi Quân Tuấn", "Đặng, Đỗ, Huỳnh, Lê Thị, Phạm, Trần, Vũ"),
    familyFirst: true,
  },
} as const satisfies Readonly<Record<string, NamePool>>;

/** People at a client's company, by given name. */
export const colleagues =
  "Alex Amir Bea Carla Dev Edda Frank Gita Hugo Ivo Jess Kim Lou Maud Nico Nell Otto Priya Ralf Robin Sasha Stella Tariq Uli Viv Wanda Xenia Yusuf Zita".split(
    " ",
  );

/** Wives, husbands and partners. */
export const partners =
  "Alma Bruno Casey Dora Elias Fay Greg Hilde Ilya Jamie Kurt Luz Mo Noor Pia Ray Sunniva Tim Ulla Wes".split(" ");

/** Children. */
export const children =
  "Ada Bram Cleo Dylan Ella Felix Gus Hedy Ida Joni Kasper Leo Mia Nina Ollie Pippa Remy Silas Tilda Uma Vito Wilma".split(
    " ",
  );
